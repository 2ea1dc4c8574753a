"""Reading of `label TAB text` files and of cross-validation folds."""

from __future__ import annotations

from pathlib import Path


def read_tsv(path: Path) -> tuple[list[str], list[str]]:
    """Returns labels and texts of a UTF-8 `label TAB text` file.

    Only LF ends a line; ill-formed UTF-8 becomes U+FFFD as on the device.
    Empty lines are skipped. Raises ValueError for a line without a TAB or
    with an empty label.
    """
    labels: list[str] = []
    texts: list[str] = []
    content = path.read_bytes().decode("utf-8", errors="replace")
    for number, line in enumerate(content.split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line:
            continue
        label, tab, text = line.partition("\t")
        if not tab or not label:
            raise ValueError(f"{path}:{number}: expected 'label TAB text'")
        labels.append(label)
        texts.append(text)
    if not labels:
        raise ValueError(f"{path}: no messages")
    return labels, texts


def read_folds(
    path: Path, only_parts: list[str] | None = None
) -> tuple[list[str], list[str], list[int]]:
    """Returns labels, texts and fold numbers of a `part TAB line TAB fold` file.

    PART names the file PART.tsv in the same folder; lines count from 1. Parts that
    are not among `only_parts` are left out.
    Raises ValueError for a line that does not exist or is not three columns.
    """
    parts: dict[str, tuple[list[str], list[str]]] = {}
    labels: list[str] = []
    texts: list[str] = []
    folds: list[int] = []
    for number, row in enumerate(path.read_text("utf-8").splitlines(), start=1):
        columns = row.split("\t")
        if len(columns) != 3 or not (columns[1] + columns[2]).isdecimal():
            raise ValueError(f"{path}:{number}: expected 'part TAB line TAB fold'")
        part, line, fold = columns[0], int(columns[1]), int(columns[2])
        if only_parts is not None and part not in only_parts:
            continue
        if part not in parts:
            parts[part] = read_tsv(path.parent / f"{part}.tsv")
        if not 1 <= line <= len(parts[part][0]):
            raise ValueError(f"{path}:{number}: {part}.tsv has no line {line}")
        labels.append(parts[part][0][line - 1])
        texts.append(parts[part][1][line - 1])
        folds.append(fold)
    if len(set(folds)) < 2:
        raise ValueError(f"{path}: fewer than two folds")
    return labels, texts, folds
