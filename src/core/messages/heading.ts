/** Heading of each message in a rendered conversation (`render.ts`). */
export const HEADING = /^━━━ (?:\d+|summary) · [\w ]+ ━━━$/;
