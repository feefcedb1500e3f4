import { until } from './wait';
import type { Workbench } from './workbench';

/** Opens the chat view and waits until it would send to this model. */
export async function openChat({ page }: Workbench, model: string): Promise<void> {
  const input = page.locator('.interactive-input-part').first();
  if (!(await input.isVisible())) await page.keyboard.press('Control+Alt+I');
  await input.waitFor();
  await until(`the chat to offer ${model}`, async () => (await input.innerText()).includes(model), 60_000);
}

/** Types a prompt into the chat and sends it. */
export async function ask({ page }: Workbench, prompt: string): Promise<void> {
  const editor = page.locator('.interactive-input-part .monaco-editor').first();
  await editor.click();
  await page.keyboard.insertText(prompt);
  await until('the prompt to stand in the chat', async () =>
    (await editor.locator('.view-lines').innerText())
      .replaceAll('\u00a0', ' ')
      .includes(prompt.split('\n')[0]!.slice(0, 20)),
  );
  await page.keyboard.press('Enter');
}

/** The text of the chat's last answer once it is complete. */
export function answerText({ page }: Workbench, timeout = 60_000): Promise<string> {
  return until(
    'the chat to answer',
    async () => {
      const last = page.locator('.interactive-item-container.interactive-response').last();
      if ((await last.count()) === 0 || (await page.locator('.chat-response-loading').count()) > 0) return undefined;
      const text = (await last.innerText()).trim();
      return text === '' ? undefined : text;
    },
    timeout,
  );
}
