import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/**
 * Loads only one script and one style sheet of this extension. The nonce also covers style elements
 * of the toolkit, which reads it from `csp-nonce`.
 */
export function renderPanelPage(webview: vscode.Webview, extensionUri: vscode.Uri, language: string): string {
  const nonce = randomBytes(16).toString('base64');
  const getFileUri = (name: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', name)).toString();
  const policy = [
    `default-src 'none'`,
    `img-src ${webview.cspSource} data:`,
    `font-src ${webview.cspSource}`,
    `style-src ${webview.cspSource} 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escapeHtml(language)}">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta property="csp-nonce" content="${nonce}" />
    <link rel="stylesheet" href="${escapeHtml(getFileUri('webview.css'))}" />
    <title>${escapeHtml(vscode.l10n.t('Context Condenser'))}</title>
  </head>
  <body>
    <div id="root"></div>
    <script nonce="${nonce}" src="${escapeHtml(getFileUri('webview.js'))}"></script>
  </body>
</html>`;
}

/** The page may load only from these folders. */
export const listResourceRoots = (extensionUri: vscode.Uri): vscode.Uri[] => [
  vscode.Uri.joinPath(extensionUri, 'dist'),
];

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
