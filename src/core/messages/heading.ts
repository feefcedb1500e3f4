/** The line above each message of a rendered conversation (`render.ts`). */
export const HEADING = /^━━━ (?:\d+|summary) · [\w ]+ ━━━$/;
