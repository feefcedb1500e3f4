/**
 * Vendor ID of the models that this extension offers in VS Code. The extension must not call these
 * models itself.
 */
export const OWN_VSCODE_VENDOR = 'context-condenser';
