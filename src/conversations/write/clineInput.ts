/**
 * Follows `formatDisplayUserInput` (cline/cline, `sdk/packages/shared`), whose result Cline 4
 * hashes, but without its regular expressions of quadratic time.
 */

export function stripClineWrappers(input: string): string {
  const textWithoutWrappers = stripNotices(unwrapUserInput(input));
  const slashCommand = findSlashCommand(input);
  if (slashCommand === undefined) return textWithoutWrappers;
  if (slashCommand.toLowerCase() === 'team') {
    const prompt = textWithoutWrappers.toLowerCase().startsWith(TEAM_PROMPT_PREFIX)
      ? textWithoutWrappers.slice(TEAM_PROMPT_PREFIX.length).trim()
      : textWithoutWrappers;
    return prompt === '' ? '/team' : `/team ${prompt}`;
  }
  return textWithoutWrappers === '' ? `/${slashCommand}` : `/${slashCommand} ${textWithoutWrappers}`;
}

const TEAM_PROMPT_PREFIX = 'spawn a team of agents for the following task:';

function unwrapUserInput(input: string): string {
  let text = input.trim();
  for (const tag of ['user_input', 'user_command']) {
    const innerText = stripTags(text, tag);
    text = (innerText === text ? stripOpeningTags(text, tag) : innerText).trim();
  }
  return text;
}

function stripTags(text: string, tag: string): string {
  const closingTag = `</${tag}>`;
  const openingTagPattern = new RegExp(`<${tag}\\b[^>]*>`, 'g');
  const tags = cutAfterLastTag(text);
  let strippedText = '';
  let position = 0;
  for (;;) {
    openingTagPattern.lastIndex = position;
    const openingTag = openingTagPattern.exec(tags);
    const closingStart = openingTag ? text.indexOf(closingTag, openingTagPattern.lastIndex) : -1;
    if (!openingTag || closingStart === -1) return strippedText + text.slice(position);
    strippedText += text.slice(position, openingTag.index) + text.slice(openingTagPattern.lastIndex, closingStart);
    position = closingStart + closingTag.length;
  }
}

function stripOpeningTags(text: string, tag: string): string {
  const tags = cutAfterLastTag(text);
  return tags.replace(new RegExp(`<${tag}[^>]*>`, 'g'), '') + text.slice(tags.length);
}

/**
 * No tag can end after the last `>`; without this limit each opened tag would be searched to the
 * end.
 */
const cutAfterLastTag = (text: string): string => text.slice(0, text.lastIndexOf('>') + 1);

function stripNotices(text: string): string {
  return stripElements(stripElements(text, 'mode_notice'), 'environment_notice').trim();
}

function stripElements(text: string, tag: string): string {
  const openTag = `<${tag}>`;
  const closingTag = `</${tag}>`;
  let strippedText = '';
  let position = 0;
  for (;;) {
    const elementStart = text.indexOf(openTag, position);
    const closingStart = elementStart === -1 ? -1 : text.indexOf(closingTag, elementStart + openTag.length);
    if (closingStart === -1) return strippedText + text.slice(position);
    strippedText += text.slice(position, elementStart);
    position = closingStart + closingTag.length;
  }
}

function findSlashCommand(input: string): string | undefined {
  const text = input.trim();
  const commandTag = /^<user_command\b([^>]*)>/i.exec(text);
  // An unclosed opening tag could contain the closing tag, so this looks only after it.
  if (!commandTag || !/<\/user_command>$/i.test(text.slice(commandTag[0].length))) return undefined;
  const slashCommand = /slash="([^"]+)"/i.exec(commandTag[1] ?? '')?.[1]?.trim();
  return slashCommand === undefined || slashCommand === '' ? undefined : slashCommand;
}
