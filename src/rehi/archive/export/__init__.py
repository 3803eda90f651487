"""Export: writes captures as plain WARC, as WACZ, or as files in folders."""

from rehi.archive.export.destination import Workplace, export_folder, export_package, mark_folder
from rehi.archive.export.files import FileExport
from rehi.archive.export.tally import Exported
from rehi.archive.export.wacz import WaczExport
from rehi.archive.export.warc import ExportInfo, FolderWarcs

__all__ = [
    "ExportInfo",
    "Exported",
    "FileExport",
    "FolderWarcs",
    "WaczExport",
    "Workplace",
    "export_folder",
    "export_package",
    "mark_folder",
]
