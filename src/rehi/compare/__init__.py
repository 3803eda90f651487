"""Comparing: what is different between two versions, told in the way that their kind asks for."""

from rehi.compare.blame import Beginning, Origin, trace_rows
from rehi.compare.columns import ColumnsDiff
from rehi.compare.jsontree import parse_json, show_path
from rehi.compare.keys import Key
from rehi.compare.names import NamesDiff, compare_names
from rehi.compare.rows import CellChange, NumberedRow, RowChange, TableDiff, compare_tables
from rehi.compare.sequence import align
from rehi.compare.table import Table, TableTooLarge, both_headers, read_rows, to_table
from rehi.compare.text import Change, Line, LineKind, TextDiff, compare_texts, lay_out, split_lines
from rehi.compare.tree import NoTree, PathChange, PathKind, TooDeep, TreeDiff, compare_trees
from rehi.compare.words import Part, Piece, mark_words
from rehi.compare.xmltree import Prefixes, parse_xml, show_xpath

__all__ = [
    "Beginning",
    "CellChange",
    "Change",
    "ColumnsDiff",
    "Key",
    "Line",
    "LineKind",
    "NamesDiff",
    "NoTree",
    "NumberedRow",
    "Origin",
    "Part",
    "PathChange",
    "PathKind",
    "Piece",
    "Prefixes",
    "RowChange",
    "Table",
    "TableDiff",
    "TableTooLarge",
    "TextDiff",
    "TooDeep",
    "TreeDiff",
    "align",
    "both_headers",
    "compare_names",
    "compare_tables",
    "compare_texts",
    "compare_trees",
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
