/** Schemes of the read-only documents that the extension shows. */

/** A conversation before and after. */
export const COMPARISON_SCHEME = 'context-condenser';

/** The original of a reference. */
export const ORIGINAL_SCHEME = 'context-condenser-original';
