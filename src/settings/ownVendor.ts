/** Vendor of the models this extension contributes, which it must not call itself. */
export const OWN_VENDOR = 'context-condenser';
