"""Reports: results -> text, tables and pages. Nothing here measures."""
