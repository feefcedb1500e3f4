const IDENTIFIER_NAME = /[A-Za-z_$][\w$]{5,}/g;

/** Finds identifiers; shorter ones are too common to mean anything. */
export const findIdentifierNames = (text: string): Set<string> => new Set(text.match(IDENTIFIER_NAME) ?? []);
