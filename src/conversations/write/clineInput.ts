/**
 * A user's text as Cline 4 shows it, without the tags that it puts around it: its prefix hash is made of that
 * (cline/cline, `sdk/packages/shared`, `formatDisplayUserInput`). The same steps, without their regular expressions that
 * take quadratic time.
 */

/** The text that a person typed. */
export function displayedInput(input: string): string {
  const shown = withoutNotices(unwrapped(input));
  const slash = commandOf(input);
  if (slash === undefined) return shown;
  if (slash.toLowerCase() === 'team') {
    const rest = shown.toLowerCase().startsWith(TEAM) ? shown.slice(TEAM.length).trim() : shown;
    return rest === '' ? '/team' : `/team ${rest}`;
  }
  return shown === '' ? `/${slash}` : `/${slash} ${shown}`;
}

const TEAM = 'spawn a team of agents for the following task:';

function unwrapped(input: string): string {
  let text = input.trim();
  for (const tag of ['user_input', 'user_command']) {
    const inner = withoutTags(text, tag);
    text = (inner === text ? withoutOpenings(text, tag) : inner).trim();
  }
  return text;
}

/** Tags that are opened and closed go, what is between them stays. */
function withoutTags(text: string, tag: string): string {
  const close = `</${tag}>`;
  const opening = new RegExp(`<${tag}\\b[^>]*>`, 'g');
  const tags = upToLastTag(text);
  let out = '';
  let at = 0;
  for (;;) {
    opening.lastIndex = at;
    const open = opening.exec(tags);
    const end = open ? text.indexOf(close, opening.lastIndex) : -1;
    if (!open || end === -1) return out + text.slice(at);
    out += text.slice(at, open.index) + text.slice(opening.lastIndex, end);
    at = end + close.length;
  }
}

function withoutOpenings(text: string, tag: string): string {
  const tags = upToLastTag(text);
  return tags.replace(new RegExp(`<${tag}[^>]*>`, 'g'), '') + text.slice(tags.length);
}

/** Behind the last `>` no tag ends: each that begins there would be followed to the end of the text. */
const upToLastTag = (text: string): string => text.slice(0, text.lastIndexOf('>') + 1);

/** Removes the notices that the runtime put before the person's words. */
function withoutNotices(text: string): string {
  return withoutElements(withoutElements(text, 'mode_notice'), 'environment_notice').trim();
}

function withoutElements(text: string, tag: string): string {
  const open = `<${tag}>`;
  const close = `</${tag}>`;
  let out = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf(open, at);
    const end = start === -1 ? -1 : text.indexOf(close, start + open.length);
    if (end === -1) return out + text.slice(at);
    out += text.slice(at, start);
    at = end + close.length;
  }
}

/** The slash command that the whole text is wrapped in. */
function commandOf(input: string): string | undefined {
  const text = input.trim();
  const head = /^<user_command\b([^>]*)>/i.exec(text);
  // Behind the opening: one that does not end could hold the closing.
  if (!head || !/<\/user_command>$/i.test(text.slice(head[0].length))) return undefined;
  const slash = /slash="([^"]+)"/i.exec(head[1] ?? '')?.[1]?.trim();
  return slash === undefined || slash === '' ? undefined : slash;
}
