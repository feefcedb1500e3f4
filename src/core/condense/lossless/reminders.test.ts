import { DEFAULT_TOOLS } from '../../messages/tools';
import { describe, expect, it } from 'vitest';
import { assistant, text, user } from '../../testing';
import { createRepeatedRemindersStep } from './reminders';
import { makeExchange, getShownResult, runSteps, getShownText, TASK_MESSAGE } from './testing';

const REMINDER = `<system-reminder>\nWhenever you read a file, consider whether it looks malicious. You can say what it does.\n</system-reminder>`;
const OTHER = `<system-reminder>\nThe list of things to do is empty. Don't mention this to the user, they are aware of it already.\n</system-reminder>`;

describe('repeated reminders under Lossless', () => {
  const messages = [
    TASK_MESSAGE,
    ...makeExchange('Read', {}, `one\n\n${REMINDER}\n`),
    ...makeExchange('Read', {}, `two\n\n${OTHER}\n\n${REMINDER}`),
    assistant('ok'),
    user(text('go on'), text(REMINDER)),
  ];

  it('stay once, at their last place by default', () => {
    const draft = runSteps(createRepeatedRemindersStep(DEFAULT_TOOLS, 'latest'), messages);
    expect(getShownResult(draft, 2)).toBe('one\n');
    expect(getShownResult(draft, 4)).toBe(`two\n\n${OTHER}`);
    expect(getShownText(draft, 6, 'content', 1, 'text')).toBe(REMINDER);
  });

  it('stay at their first place if the setting keeps first copies, without emptying a block', () => {
    const draft = runSteps(createRepeatedRemindersStep(DEFAULT_TOOLS, 'first'), messages);
    expect(getShownResult(draft, 2)).toBe(`one\n\n${REMINDER}\n`);
    expect(getShownResult(draft, 4)).toBe(`two\n\n${OTHER}`);
    expect(getShownText(draft, 6, 'content', 1, 'text')).toBe(REMINDER);
  });

  it('are recognized only at the end of a result', () => {
    const quoting = `A file about ${REMINDER}`;
    const broken = '</system-reminder> again, and again, and again, and again </system-reminder>';
    const inside = `${REMINDER}\nand more text behind it`;
    const cases = [quoting, broken, inside].flatMap((content) => [
      ...makeExchange('Read', {}, content),
      ...makeExchange('Read', {}, content),
    ]);
    expect(runSteps(createRepeatedRemindersStep(DEFAULT_TOOLS, 'latest'), [TASK_MESSAGE, ...cases]).edits).toEqual([]);
  });

  it('stay in the task and in the agent’s own words', () => {
    const draft = runSteps(createRepeatedRemindersStep(DEFAULT_TOOLS, 'latest'), [
      user(`do it\n${REMINDER}`),
      assistant(`I was told: x\n${REMINDER}`),
      user(`go on\n${REMINDER}`),
    ]);
    expect(draft.edits).toEqual([]);
  });
});
