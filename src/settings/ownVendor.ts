/** The extension must not call its own models. */
export const OWN_VSCODE_VENDOR = 'context-condenser';
