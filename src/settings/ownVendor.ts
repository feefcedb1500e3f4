/** The vendor under which this extension contributes models of its own, which it must not call itself. */
export const OWN_VENDOR = 'context-condenser';
