import type { Locator } from 'playwright-core';
import type { Workbench } from './workbench';
import { clickOn, until } from './wait';

export interface Notification {
  readonly severity: 'info' | 'warning' | 'error' | 'unknown';
  readonly text: string;
  readonly buttons: readonly string[];
  /** Texts that VS Code truncates for lack of room. */
  readonly cutShort: readonly string[];
  /** True if the notification shows a progress bar. */
  readonly busy: boolean;
}

const toasts = ({ page }: Workbench): Locator =>
  page.locator('.notifications-toasts .notification-toast').filter({ has: page.locator('.notification-list-item') });

/** Reads all notifications in one call, because new ones move the others. */
function readNotifications(items: Locator): Promise<readonly Notification[]> {
  return items.evaluateAll((elements) =>
    elements.map((element) => {
      const text = (selector: string): string => (element.querySelector(selector)?.textContent ?? '').trim();
      const icon = (element.querySelector('.notification-list-item-icon')?.className ?? '') as string;
      const buttons = Array.from(
        element.querySelectorAll('.notification-list-item-buttons-container .monaco-text-button'),
        ({ textContent, scrollWidth, clientWidth }) => ({
          words: textContent.trim(),
          isCutShort: scrollWidth > clientWidth,
        }),
      );
      return {
        severity: (['error', 'warning', 'info'] as const).find((name) => icon.includes(`codicon-${name}`)) ?? 'unknown',
        text: text('.notification-list-item-message'),
        buttons: buttons.map(({ words }) => words),
        cutShort: buttons.filter(({ isCutShort }) => isCutShort).map(({ words }) => words),
        busy: element.querySelector('.monaco-progress-container.active') !== null,
      };
    }),
  );
}

const matches = (text: string, wanted: string | RegExp): boolean =>
  typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);

/**
 * Returns the visible notifications. Those without buttons disappear after ten seconds, so start
 * waiting early.
 */
export const notifications = (bench: Workbench): Promise<readonly Notification[]> => readNotifications(toasts(bench));

/** Finds the notification with a text, while it pops up or in the notification center. */
export async function notification(bench: Workbench, wanted: string | RegExp, timeout?: number): Promise<Notification> {
  const seen = new Set<string>();
  const startTimeMs = Date.now();
  try {
    return await until(
      `a notification ${String(wanted)}`,
      async () => {
        const shown = await notifications(bench);
        for (const { text } of shown) seen.add(text);
        const matchingNotification = shown.find(({ text }) => matches(text, wanted));
        if (matchingNotification || Date.now() - startTimeMs < GONE_MS) return matchingNotification;
        return (await readNotificationCenter(bench, wanted)).find(({ text }) => matches(text, wanted));
      },
      timeout,
    );
  } catch (error) {
    // Notifications that have disappeared explain more than the final state does.
    const texts = JSON.stringify([...seen]);
    throw new Error(`${error instanceof Error ? error.message : String(error)}; seen: ${texts}`, { cause: error });
  }
}

/**
 * Longer than the time for which a notification pops up. On a blocked machine, it may never pop up.
 */
const GONE_MS = 30_000;

/**
 * Reads the notification center, in which it expands the notification with a text, so that its
 * buttons are visible.
 */
async function readNotificationCenter({ page }: Workbench, wanted: string | RegExp): Promise<readonly Notification[]> {
  const centre = page.locator('.notifications-center');
  const bell = page.locator('[id="status.notifications"] a').first();
  if (!(await centre.isVisible())) await bell.click({ timeout: 2_000 });
  const items = centre.locator('.notification-list-item');
  const item = items.filter({ has: page.locator('.notification-list-item-message', { hasText: wanted }) }).first();
  if (await item.isVisible()) {
    await item.hover({ timeout: 2_000 });
    const unfold = item.locator('.codicon-notifications-expand').first();
    if (await unfold.isVisible()) await unfold.click({ timeout: 2_000 });
    return readNotifications(items);
  }
  // The center doesn't contain the notification, so the center is closed; the notification may
  // still pop up.
  await bell.click({ timeout: 2_000 });
  return [];
}

/** Time to wait until a notification pops up, before looking in the notification center. */
const TOAST_MS = 5_000;

/**
 * Clicks a button of the notification with a text, while it pops up or in the notification center.
 */
export async function clickNotification(bench: Workbench, wanted: string | RegExp, button: string): Promise<void> {
  const { page } = bench;
  const message = page.locator('.notification-list-item-message', { hasText: wanted });
  const item = page.locator('.notification-list-item').filter({ has: message }).first();
  const target = item.getByRole('button', { name: button, exact: true }).first();
  const centre = page.locator('.notifications-center');
  const bell = page.locator('[id="status.notifications"] a').first();
  const click = { timeout: 2_000 };
  const startTimeMs = Date.now();
  await until(`"${button}" of the notification ${String(wanted)}`, async () => {
    if (await target.isVisible()) return clickOn(target, '.monaco-text-button', button);
    if (Date.now() - startTimeMs < TOAST_MS) return false;
    if (!(await centre.isVisible())) await bell.click(click);
    else if (await item.isVisible()) {
      await item.hover(click);
      await item.locator('.codicon-notifications-expand').first().click(click);
    }
    return false;
  });
  if (await centre.isVisible()) await bell.click(click);
}

export async function dialog({
  page,
}: Workbench): Promise<{ readonly text: string; readonly buttons: readonly string[] }> {
  const box = page.locator('.monaco-dialog-box');
  await box.waitFor();
  const buttons = await box.locator('.dialog-buttons .monaco-text-button').allTextContents();
  return {
    text: (await box.locator('.dialog-message-container').innerText()).trim(),
    buttons: buttons.map((text) => text.trim()),
  };
}

export async function clickDialog({ page }: Workbench, button: string): Promise<void> {
  await page
    .locator('.monaco-dialog-box .dialog-buttons .monaco-text-button')
    .filter({ hasText: button })
    .first()
    .click();
  await page.locator('.monaco-dialog-box').waitFor({ state: 'detached' });
}
