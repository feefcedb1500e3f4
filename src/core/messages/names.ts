const NAME = /[A-Za-z_$][\w$]{5,}/g;

/** Finds identifiers; shorter ones are too common to mean anything. */
export const findNames = (text: string): Set<string> => new Set(text.match(NAME) ?? []);
