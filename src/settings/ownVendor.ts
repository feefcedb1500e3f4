/** The extension must not call its own models, which have this vendor. */
export const OWN_VSCODE_VENDOR = 'context-condenser';
