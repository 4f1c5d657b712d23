"""The frame of a report: one self-contained HTML page, readable on a phone and in the dark.

Nothing is fetched and nothing runs: a policy in the page's head forbids the browser to try.
"""

import html
from collections.abc import Sequence
from string import Template

STYLE = """
:root{--paper:#fbfaf7;--card:#ffffff;--ink:#1d2430;--soft:#5c6675;--line:#dfe2e6;
--raw:#1d2430;--ours:#0067a5;--independent:#cf4a00;--faint:#b9bfc8;--warn:#fff4df;--edge:#e0a94a}
@media (prefers-color-scheme:dark){:root{--paper:#12161c;--card:#1a2028;--ink:#e7ebf0;
--soft:#9aa5b3;--line:#2c3540;--raw:#f1f4f8;--ours:#5cb8f2;--independent:#ff8a4c;--faint:#4a5563;
--warn:#2b2413;--edge:#8a6a2a}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:17px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
main{max-width:1080px;margin:0 auto;padding:28px 20px 64px}
h1{font-size:clamp(1.5rem,4.2vw,2.4rem);line-height:1.2;margin:.2em 0 .5em;letter-spacing:-.015em;
text-wrap:balance}
h2{font-size:1.3rem;margin:2.4em 0 .4em;letter-spacing:-.01em}
h3{font-size:1rem;margin:1.4em 0 .3em}
p{max-width:44em;margin:.5em 0}
ul{max-width:44em;padding-left:1.2em}li{margin:.35em 0}
.brand{color:var(--soft);font-size:.9rem;margin:0}
.lead{font-size:1.08rem;color:var(--soft)}
b.ours{color:var(--ours)}b.independent{color:var(--independent)}
.private{background:var(--warn);border:1px solid var(--edge);border-radius:10px;
padding:.6em .9em;font-size:.95rem;max-width:none}
.pictures{display:grid;gap:16px;grid-template-columns:repeat(2,minmax(0,1fr));margin:18px 0}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:12px;
overflow:hidden}
figure svg{display:block;width:100%;height:auto}
figcaption{padding:10px 14px 14px;font-size:.92rem;color:var(--soft);line-height:1.45;
border-top:1px solid var(--line)}
figcaption strong{color:var(--ink);display:block;font-size:1rem}
.line{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}
.dots{fill:none;stroke-width:4.5;stroke-linecap:round;opacity:.5}
.mark{fill:none;stroke-width:4;stroke-linecap:round}
.raw{stroke:var(--raw)}.ours{stroke:var(--ours)}.independent{stroke:var(--independent)}
.behind{stroke:var(--faint);stroke-width:2.4}
.bold{stroke-width:3}
.bar{fill:none;stroke:var(--soft);stroke-width:2}.halo{fill:none;stroke:var(--card);stroke-width:7}
.bar-label{fill:var(--soft);font:600 19px system-ui,sans-serif;text-anchor:middle;
paint-order:stroke;stroke:var(--card);stroke-width:6px;stroke-linejoin:round}
.rule{fill:none;stroke:var(--line);stroke-width:1.2}.dashed{stroke-dasharray:7 6}
.dotted{stroke-dasharray:1 5}
.tick{fill:var(--soft);font:17px system-ui,sans-serif}.middle{text-anchor:middle}
.end{text-anchor:end}.key{fill:var(--ink);font:17px system-ui,sans-serif}
.band{fill:var(--ours);fill-opacity:.14}.plus{fill:var(--ours)}.minus{fill:var(--independent)}
.full{fill:var(--ours)}.hollow{fill:none;stroke:var(--ink);stroke-width:1.5}
.table{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:12px;
margin:16px 0}
table{border-collapse:collapse;width:100%;font-size:.95rem;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:.55em .8em;border-bottom:1px solid var(--line);vertical-align:top}
th:first-child,td:first-child{text-align:left}
thead th{font-weight:600;white-space:nowrap}tr:last-child td,tr:last-child th{border-bottom:0}
tbody th{font-weight:400}td small,th small{color:var(--soft);display:block}
.note{color:var(--soft);font-size:.92rem;overflow-wrap:anywhere}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
@media (max-width:640px){body{font-size:16px}main{padding:18px 14px 48px}
.pictures{grid-template-columns:1fr}th,td{padding:.5em .55em}thead th{white-space:normal}}
@media print{figure,.table{break-inside:avoid}}
"""

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>$style</style>
</head>
<body>
<main>
$body
</main>
</body>
</html>
""")


def render_page(title: str, body: str) -> str:
    """A whole page; ``title`` is plain text, ``body`` is HTML whose text is escaped already."""
    return _PAGE.substitute(title=html.escape(title), style=STYLE, body=body)


def figure(picture: str, heading: str, caption: str) -> str:
    """A picture with its words; ``heading`` and ``caption`` are plain text."""
    return (
        f"<figure>{picture}<figcaption><strong>{html.escape(heading)}</strong>"
        f"{html.escape(caption)}</figcaption></figure>"
    )


def pictures(figures: Sequence[str]) -> str:
    """Figures side by side, or below one another on a phone."""
    return f'<div class="pictures">{"".join(figures)}</div>'


def table(head: Sequence[str], rows: Sequence[Sequence[tuple[str, str]]]) -> str:
    """Rows of (text, small print) cells; the first cell of a row names it."""
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    rows_html = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="table">{rows_html}</div>'


def bullets(items: Sequence[str]) -> str:
    """A list of plain texts."""
    return f"<ul>{''.join(f'<li>{html.escape(item)}</li>' for item in items)}</ul>"


def heading(level: int, text: str) -> str:
    """A heading of plain text."""
    return f"<h{level}>{html.escape(text)}</h{level}>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text; ``kind`` is its class."""
    return f"<p{f' class={kind}' if kind else ''}>{html.escape(text)}</p>"


def _cell(cell: tuple[str, str]) -> str:
    text, small = cell
    return f"<td>{html.escape(text)}{f'<small>{html.escape(small)}</small>' if small else ''}</td>"
