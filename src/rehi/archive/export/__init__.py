"""Export: what is kept, in the forms that others read: plain WARC, WACZ, and files in folders."""

from rehi.archive.export.destination import Workplace, export_folder, export_package, mark_folder
from rehi.archive.export.files import FileExport
from rehi.archive.export.tally import Exported
from rehi.archive.export.wacz import WaczExport
from rehi.archive.export.warc import FolderWarcs, Statement

__all__ = [
    "Exported",
    "FileExport",
    "FolderWarcs",
    "Statement",
    "WaczExport",
    "Workplace",
    "export_folder",
    "export_package",
    "mark_folder",
]
