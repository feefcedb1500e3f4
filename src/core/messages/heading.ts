/** Heading of each message in a rendered conversation (`render.ts`). */
export const MESSAGE_HEADING = /^━━━ (?:\d+|summary) · [\w ]+ ━━━$/;
