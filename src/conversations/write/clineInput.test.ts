import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stripClineWrappers } from './clineInput';

/**
 * Implements the rule with regular expressions, as Cline's code does. Our own implementation must
 * give the same result.
 */
function byExpressions(input: string): string {
  let text = input.trim();
  for (const tag of ['user_input', 'user_command']) {
    const inner = text.replace(new RegExp(`<${tag}\\b[^>]*>([^]*?)</${tag}>`, 'g'), '$1');
    text = (inner === text ? text.replace(new RegExp(`<${tag}[^>]*>`, 'g'), '') : inner).trim();
  }
  for (const tag of ['mode_notice', 'environment_notice']) {
    text = text.replace(new RegExp(`<${tag}>[^]*?</${tag}>`, 'g'), '');
  }
  text = text.trim();
  const attributes = /^<user_command\b([^>]*)>[^]*?<\/user_command>$/i.exec(input.trim())?.[1] ?? '';
  const slash = /slash="([^"]+)"/i.exec(attributes)?.[1]?.trim() ?? '';
  if (slash === '') return text;
  const team = /^spawn a team of agents for the following task:/i;
  const rest = slash.toLowerCase() === 'team' && team.test(text) ? text.replace(team, '').trim() : text;
  const shown = slash.toLowerCase() === 'team' ? 'team' : slash;
  return rest === '' ? `/${shown}` : `/${shown} ${rest}`;
}

const piece = fc.constantFrom(
  '<user_input>',
  '<user_input mode="act">',
  '</user_input>',
  '<user_inputs>',
  '<user_command slash="team">',
  '<user_command slash="review">',
  '<user_command slash=" ">',
  '<user_command slash="a" ',
  '<user_command>',
  '<USER_COMMAND slash="X">',
  '</user_command>',
  '</USER_COMMAND>',
  '<mode_notice>',
  '</mode_notice>',
  '<environment_notice>',
  '</environment_notice>',
  'Spawn a team of agents for the following task:',
  'fix it',
  ' ',
  '\n',
  '>',
  '$1',
  'é🙂',
);
const input = fc.array(fc.oneof(piece, fc.string({ maxLength: 4 })), { maxLength: 12 }).map((parts) => parts.join(''));

describe('a user’s text as Cline displays it', () => {
  it("equals the result of Cline's regular expressions", () => {
    fc.assert(
      fc.property(input, (text) => {
        expect(stripClineWrappers(text)).toBe(byExpressions(text));
      }),
    );
  });

  it("begins with a slash and the command's name if it is a command wrapped in tags", () => {
    const commands = fc.tuple(fc.constantFrom('team', 'TEAM', 'review', ' '), input, fc.constantFrom('', ' '));
    fc.assert(
      fc.property(commands, ([slash, words, space]) => {
        const text = `<user_command slash="${slash}"${space}>${words}</user_command>`;
        expect(stripClineWrappers(text)).toBe(byExpressions(text));
      }),
    );
  });

  it('with an unclosed tag is not a command', () => {
    const text = '<user_command slash="a" </user_command>';
    expect(stripClineWrappers(text)).toBe(byExpressions(text));
  });

  it('without tags is unchanged', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('<', '');
        expect(stripClineWrappers(plain)).toBe(plain.trim());
      }),
    );
  });

  it('is computed in linear time', () => {
    // Cline's regular expressions search to the end from each of these tags, which would take too
    // long in 2 MB.
    const text = '<mode_notice>'.repeat(160_000);
    expect(stripClineWrappers(text) === text).toBe(true);
  });

  it('is computed in linear time even with many unclosed tags', () => {
    const text = '<user_input '.repeat(160_000).trim();
    expect(stripClineWrappers(text) === text).toBe(true);
    expect(stripClineWrappers(`<user_input a>b</user_input>${text}`) === `b${text}`).toBe(true);
  });
});
