"""Media types and extensions that hold no text.

What a server declares is weighed before what the path ends in, and both are compared as a whole: a search for "js"
inside the type would throw JSON away. What we know nothing of is kept; the visit will show what it is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

Promise = Literal["text", "silent", "unknown"]  # what a type or an extension lets one expect


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SILENT_FAMILIES = frozenset(("image", "audio", "video", "font", "model", "chemical", "x-world", "x-conference"))
_SILENT_TYPES = _words(
    """
    text/css text/javascript text/ecmascript text/jscript text/livescript text/x-javascript text/x-ecmascript
    text/dns text/vtt
    application/javascript application/x-javascript application/ecmascript application/x-ecmascript
    application/wasm application/java application/java-vm application/java-archive application/x-java-applet
    application/x-java-archive application/x-java-jnlp-file application/x-shockwave-flash
    application/vnd.adobe.flash.movie application/x-silverlight-app application/x-director
    application/zip application/x-zip application/x-zip-compressed application/gzip application/x-gzip
    application/x-tar application/x-gtar application/x-tgz application/x-compress application/x-compressed
    application/bzip2 application/x-bzip application/x-bzip2 application/x-xz application/zstd application/x-7z-compressed
    application/x-rar application/x-rar-compressed application/vnd.rar application/x-lzh-compressed
    application/x-stuffit application/x-cpio application/warc application/x-warc
    application/x-iso9660-image application/x-apple-diskimage application/x-cd-image
    application/x-msdownload application/x-msdos-program application/x-dosexec application/x-executable
    application/x-sharedlib application/x-msi application/vnd.microsoft.portable-executable
    application/vnd.android.package-archive application/vnd.debian.binary-package application/x-debian-package
    application/x-rpm application/x-redhat-package-manager application/x-xpinstall application/x-chrome-extension
    application/vnd.ms-fontobject application/font-woff application/font-woff2 application/font-sfnt
    application/x-font-woff application/x-font-ttf application/x-font-truetype application/x-font-opentype
    application/x-font-otf application/x-font-type1 application/vnd.oasis.opendocument.image
    application/ogg application/mp4 application/x-mp4 application/vnd.apple.mpegurl application/x-mpegurl
    application/dash+xml application/x-mplayer2 application/vnd.rn-realmedia application/vnd.ms-asf
    application/photoshop application/x-photoshop application/illustrator
    application/pgp-signature application/pgp-keys application/pkcs7-signature application/pkix-cert
    application/pkix-crl application/x-x509-ca-cert application/x-pkcs12 application/x-bittorrent
    application/x-sqlite3 application/vnd.sqlite3 application/x-hdf application/x-netcdf
    multipart/x-mixed-replace
    """
)
_SPEAKING_FAMILIES = frozenset(("text", "message"))
_SPEAKING_SUFFIXES = ("+json", "+xml", "+yaml", "+json-seq")
_SPEAKING_PREFIXES = ("application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.")
_SPEAKING_TYPES = _words(
    """
    application/pdf application/x-pdf application/json application/x-json application/ld+json application/x-ndjson
    application/jsonl application/geo+json application/xml application/xhtml application/xhtml+xml application/rss
    application/atom application/rdf application/csv application/x-csv application/yaml application/x-yaml
    application/rtf application/x-rtf application/epub+zip application/msword application/vnd.ms-word
    application/vnd.ms-excel application/msexcel application/x-msexcel application/vnd.ms-powerpoint
    application/mspowerpoint application/vnd.visio application/vnd.wordperfect application/postscript
    application/x-tex application/x-latex application/n-triples application/n-quads application/trig
    application/sparql-query application/sql application/toml application/x-mobipocket-ebook
    application/vnd.ms-outlook application/x-httpd-php application/mbox
    """
)
# Servers say these when they don't know: the extension is asked as well.
_EMPTY_TYPES = _words(
    """
    - unknown no-type text/plain application/octet-stream binary/octet-stream application/binary application/unknown
    application/x-unknown application/download application/x-download application/force-download
    application/x-octet-stream unknown/unknown content/unknown text/unknown
    """
)
_SILENT_EXTENSIONS = _words(
    """
    jpg jpeg jpe jfif png gif bmp ico cur tif tiff webp avif heic heif svg svgz psd ai eps indd raw cr2 nef dng jp2 xcf
    djv djvu
    mp3 mp2 m4a aac ogg oga opus wav wma flac aif aiff mid midi ra ram m3u m3u8 pls
    mp4 m4v mpg mpeg mpe avi mov qt wmv asf flv f4v webm mkv ogv 3gp 3g2 rm rmvb vob swf vtt
    woff woff2 ttf otf eot pfb pfm
    css less scss sass js mjs cjs map wasm
    zip gz tgz bz2 tbz tbz2 xz txz zst lz lzma 7z rar tar z cab arj lzh sit sitx cpio jar war ear warc arc
    exe msi dll so dylib bin dmg iso img deb rpm apk ipa xpi crx pkg class pyc o obj lib
    sig asc crl crt cer der p7s p12 pfx torrent
    sqlite sqlite3 mdb accdb hdf h5 nc dwg dxf dgn stl 3ds blend shp shx sbn sbx
    """
)
_SPEAKING_EXTENSIONS = _words(
    """
    html htm xhtml shtml mhtml mht php php3 php4 php5 phtml asp aspx ashx jsp jspx jsf do cfm cgi pl
    txt text log md markdown rst tex csv tsv tab json jsonl ndjson geojson jsonld xml rss atom rdf owl ttl nt nq trig
    xsd xsl xslt wsdl gml kml yaml yml toml ini conf sql srt ics vcf eml mbox bib ris
    pdf ps rtf epub mobi doc docx docm dot dotx odt ott xls xlsx xlsm xlsb ods ppt pptx pptm pps ppsx odp pages numbers
    """
)
EXTENSIONS = _SILENT_EXTENSIONS | _SPEAKING_EXTENSIONS


@lru_cache(maxsize=4096)
def promise_of_type(declared: str) -> Promise:
    """What a declared media type, parameters and all, lets one expect."""
    media_type = declared.partition(";")[0].strip().lower()
    family, _, name = media_type.partition("/")
    if media_type in _EMPTY_TYPES or not name:
        return "unknown"
    if family in _SILENT_FAMILIES or media_type in _SILENT_TYPES:
        return "silent"
    if (
        family in _SPEAKING_FAMILIES
        or media_type in _SPEAKING_TYPES
        or media_type.endswith(_SPEAKING_SUFFIXES)
        or media_type.startswith(_SPEAKING_PREFIXES)
    ):
        return "text"
    return "unknown"


def extension_of(url: str) -> str:
    """What the path of a normalised http URL ends in, in lower case: ``pdf``; empty if it has no extension."""
    path = url.partition("?")[0]
    name = path[path.rfind("/") + 1 :]
    if "." not in name:
        return ""
    stem, _, extension = name.partition(";")[0].rpartition(".")
    return extension.lower() if stem and len(extension) <= 8 else ""


def promise_of_url(url: str) -> Promise:
    """What the extension of a normalised URL lets one expect."""
    extension = extension_of(url)
    if extension in _SILENT_EXTENSIONS:
        return "silent"
    return "text" if extension in _SPEAKING_EXTENSIONS else "unknown"
