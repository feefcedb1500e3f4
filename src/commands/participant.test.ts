import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { askInChat } from '../../test/support/askInChat';
import { openTestWindow, stubHome } from '../../test/support/testWindow';
import { makeTranscript } from '../../test/support/transcript';
import { fake } from '../../test/support/vscode';
import { condenseNow } from './condenseNow';
import type { Services } from '../window/services';

let services: Services;
let file: string;

beforeEach(() => {
  const window = openTestWindow();
  ({ services } = window);
  stubHome(window.home);
  file = join(window.home, '.claude', 'projects', 'p', 'session.jsonl');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, makeTranscript());
});

const ask = (command: string | undefined) => askInChat(services, command);

/** Picks the file's conversation once it is listed, or none if the label is undefined. */
function pickWhenListed(label: string | undefined): void {
  fake.onQuickPick = (picker) => {
    void vi
      .waitFor(() => expect(picker.busy).toBe(false))
      .then(() => {
        const item = picker.items.find((each) => label !== undefined && each.label.includes(label));
        if (item) picker.accept(item);
        else picker.hide();
      });
  };
}

it('@condenser without a command explains and offers its commands', async () => {
  const { text, buttons } = await ask(undefined);
  for (const command of ['/report', '/preview', '/help', '#recall']) expect(text).toContain(command);
  expect(buttons.map(({ command }) => command)).toEqual([
    'contextCondenser.condenseNow',
    'contextCondenser.openSettings',
  ]);
});

it('@condenser /preview asks which conversation to preview, changes nothing, and offers to condense it', async () => {
  pickWhenListed('Rename value7');
  const { text, buttons } = await ask('preview');
  expect(text).toMatch(/Lossless would condense it: [\d,]+ → [\d,]+ tokens \(−\d+%\)\. Nothing was changed\./);
  expect(buttons[0]).toMatchObject({ command: 'contextCondenser.condenseNow', arguments: [file] });
  expect(fake.quickPick?.ignoreFocusOut, 'the chat takes the focus for its next prompt').toBe(true);
  pickWhenListed('Rename value7');
  expect((await ask('report')).text).toMatch(/^### Rename value7.*\n\nIt has not been condensed\.$/);
});

it('@condenser reports each condensation of the picked conversation, or that the user picked none', async () => {
  await condenseNow(services, file);
  pickWhenListed('Rename value7');
  const { text } = await ask('report');
  expect(text).toMatch(/\*\*Lossless, .+\*\*\n- [\d,]+ → [\d,]+ tokens \(−\d+%\); cost: \$0\n- /);
  pickWhenListed(undefined);
  expect((await ask('report')).text).toBe('No conversation was picked. Nothing was changed.');
});

it("@condenser returns an error as the answer's error", async () => {
  fake.settings['contextCondenser.provider'] = 'of.another';
  pickWhenListed('Rename value7');
  const { result } = await ask('preview');
  expect(result.errorDetails?.message).toContain('comes from another extension');
});
