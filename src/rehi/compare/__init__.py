"""Compare: finds the differences between two versions, as texts, tables, trees or lists of names."""

from rehi.compare.blame import Beginning, Origin, trace_rows
from rehi.compare.columns import ColumnsDiff
from rehi.compare.jsontree import parse_json, show_path
from rehi.compare.keys import Key
from rehi.compare.names import NamesDiff, compare_names, find_standing
from rehi.compare.rows import CellChange, NumberedRow, RowChange, TableDiff, compare_tables
from rehi.compare.sequence import align
from rehi.compare.table import Table, TableTooLarge, both_headers, read_rows, to_table
from rehi.compare.text import Line, LineKind, TextChange, TextDiff, compare_texts, lay_out, split_lines
from rehi.compare.tree import NoTree, PathChange, PathKind, TooDeep, TreeDiff, compare_trees
from rehi.compare.word_diff import LinePart, LinePiece, mark_words
from rehi.compare.xmltree import Prefixes, parse_xml, show_xpath

__all__ = [
    "Beginning",
    "CellChange",
    "ColumnsDiff",
    "Key",
    "Line",
    "LineKind",
    "LinePart",
    "LinePiece",
    "NamesDiff",
    "NoTree",
    "NumberedRow",
    "Origin",
    "PathChange",
    "PathKind",
    "Prefixes",
    "RowChange",
    "Table",
    "TableDiff",
    "TableTooLarge",
    "TextChange",
    "TextDiff",
    "TooDeep",
    "TreeDiff",
    "align",
    "both_headers",
    "compare_names",
    "compare_tables",
    "compare_texts",
    "compare_trees",
    "find_standing",
    "lay_out",
    "mark_words",
    "parse_json",
    "parse_xml",
    "read_rows",
    "show_path",
    "show_xpath",
    "split_lines",
    "to_table",
    "trace_rows",
]
