/** Places inside of sections that the page can go to. */

/** Id of the comparison of configurations on conversations. */
export const COMPARISON = 'comparison';

const SECTION_OF: Readonly<Record<string, string>> = { [COMPARISON]: 'preview' };

/** The section that has to be unfolded for a place, by its id; a section is its own. */
export const sectionOf = (place: string): string => SECTION_OF[place] ?? place;
