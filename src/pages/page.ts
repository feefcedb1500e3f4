/** Generated pages need no script and no network. */
import { renderHtml, SafeHtml } from './html';

/**
 * @param nonce set for a webview: the page then uses VS Code's colors, and only the style with this
 * nonce is allowed
 */
export function renderPage(title: string, main: SafeHtml, nonce?: string): string {
  const allowedStyle = nonce === undefined ? "'unsafe-inline'" : `'nonce-${nonce}'`;
  const style =
    nonce === undefined
      ? renderHtml`<style>
          ${new SafeHtml(PAGE_STYLE)}
        </style>`
      : renderHtml`<style nonce="${nonce}">
          ${new SafeHtml(READING_PAGE_STYLE)}
        </style>`;
  return renderHtml`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${new SafeHtml(allowedStyle)}" />
        <title>${title}</title>
        ${style}
      </head>
      <body>
        <main>${main}</main>
      </body>
    </html> `.text;
}

/** Colors for light and dark, with a contrast of at least 4.5 : 1. */
const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --text: #1f2328; --dim: #57606a; --ground: #ffffff; --line: #d0d7de; --code: #f6f8fa;
  --before: #8c959f; --after: #0969da; --gone: #ffebe9; --now: #dafbe1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --dim: #9da7b3; --ground: #0d1117; --line: #30363d; --code: #161b22;
    --before: #7d8590; --after: #58a6ff; --gone: #4b1a1d; --now: #12371f;
  }
}
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 0.5rem; }
.lead { font-size: 1.1rem; }
header p:last-child, caption, .size, .tokens, .unchanged { color: var(--dim); }
table { border-collapse: collapse; }
caption { text-align: left; padding-bottom: 0.25rem; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; border-top: 1px solid var(--line); font-weight: normal; }
thead th, thead td { border-top: 0; font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wide { overflow-x: auto; }
@media (max-width: 40rem) {
  th, td { padding-right: 0.5rem; }
  .bars { display: none; }
}
/* Sizes of six digits fit beside each other. */
@media (max-width: 24rem) {
  th, td { padding-right: 0.35rem; }
}
rect.before { fill: var(--before); }
rect.after { fill: var(--after); }
.curve { width: 100%; height: auto; }
/* The figures at the axes are no text of the drawing, which shrinks on a narrow page. */
.chart { display: grid; grid-template-columns: auto 1fr; gap: 0.3rem 0.5rem; }
.chart .x, .chart .y { display: flex; justify-content: space-between; color: var(--dim); font-size: 0.8rem; line-height: 1; white-space: nowrap; font-variant-numeric: tabular-nums; }
.chart .y { flex-direction: column; text-align: right; }
.chart .x { grid-column: 2; }
.curve polyline, .curve path { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; }
.curve .axis { stroke: var(--line); stroke-width: 1; }
.curve .before { stroke: var(--before); stroke-dasharray: 6 4; }
.curve .after { stroke: var(--after); }
.legend span { margin-right: 1rem; }
.legend span::before { content: ''; display: inline-block; width: 1.5rem; margin-right: 0.4rem; vertical-align: middle; border-top: 2px dashed var(--before); }
.legend span.after::before { border-top: 2px solid var(--after); }
details { border-top: 1px solid var(--line); padding: 0.25rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.tokens { font-variant-numeric: tabular-nums; }
@media (min-width: 40.01rem) {
  summary:has(.tokens) { position: relative; padding-inline-end: 11.5rem; }
  .tokens { position: absolute; inset-block-start: 0; inset-inline-end: 0; }
}
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: 0.6rem 0.8rem; margin: 0.4rem 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 12.5px/1.5 ui-monospace, monospace; unicode-bidi: plaintext; }
del { background: var(--gone); text-decoration: none; }
ins { background: var(--now); text-decoration: none; }
li { overflow-wrap: anywhere; }
code { font: 12.5px ui-monospace, monospace; overflow-wrap: anywhere; }
`;

const READING_PAGE_STYLE = `${PAGE_STYLE}
:root {
  --text: var(--vscode-editor-foreground); --dim: var(--vscode-descriptionForeground); --ground: var(--vscode-editor-background);
  --line: var(--vscode-contrastBorder, var(--vscode-widget-border, #8885)); --code: transparent;
  --gone: var(--vscode-diffEditor-removedTextBackground, transparent); --now: var(--vscode-diffEditor-insertedTextBackground, transparent);
}
body { padding: 0; font-family: var(--vscode-font-family, system-ui, sans-serif); font-size: 13px; }
main { max-width: 60rem; }
section { border-top: 1px solid var(--line); padding: 0.25rem 0 0.75rem; content-visibility: auto; contain-intrinsic-size: auto 6rem; }
section h2 { font-size: 1rem; margin: 0.75rem 0 0.25rem; }
section h3 { font-size: 0.9rem; margin: 0.75rem 0 0.25rem; }
section > *, .field { margin-inline-start: 0; }
.size { color: var(--dim); font-weight: normal; }
.field { margin-inline-start: 0.75rem; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; font: 12.5px/1.5 var(--vscode-editor-font-family, ui-monospace, monospace); }
.text details { border: 0; padding: 0; white-space: normal; }
.text .text { white-space: pre-wrap; margin-inline-start: 1rem; }
details.gone > summary { padding: 0.1rem 0; }
a { color: var(--vscode-textLink-foreground); }
.actions { display: flex; flex-wrap: wrap; gap: 0.4rem; }
.button { padding: 0.25rem 0.7rem; border: 1px solid var(--vscode-button-border, transparent); border-radius: 2px; text-decoration: none; color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
.button:hover { background: var(--vscode-button-secondaryHoverBackground); }
.button:first-child { color: var(--vscode-button-foreground); background: var(--vscode-button-background); }
.button:first-child:hover { background: var(--vscode-button-hoverBackground); }
/* A bar, not the words: the themes' chart colors are too pale for text on white. */
[class^='speaker-'] { border-inline-start: 3px solid var(--line); padding-inline-start: 0.4rem; }
.speaker-user { border-color: var(--vscode-charts-blue, var(--line)); }
.speaker-assistant { border-color: var(--vscode-charts-purple, var(--line)); }
.speaker-tool { border-color: var(--vscode-charts-green, var(--line)); }
summary:focus-visible, a:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 1px; }
.vscode-high-contrast del, .vscode-high-contrast ins { outline: 1px dashed var(--vscode-contrastBorder); }
`;
