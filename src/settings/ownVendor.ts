/** The extension must not call its own models. */
export const OWN_VENDOR = 'context-condenser';
