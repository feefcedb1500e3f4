/** A window in which a test runs the extension's commands. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished, vi } from 'vitest';
import type { Services } from '../../src/window/services';
import type {} from './ranks';
import { testServices } from './services';
import { temporaryFolder } from './temporaryFolder';
import { fake, type window } from './vscode';

export interface TestWindow {
  /**
   * A folder that contains only `dist` with the bundles. It is the extension's folder, and the home
   * folder if needed.
   */
  readonly home: string;
  readonly services: Services;
  readonly log: ReturnType<typeof window.createOutputChannel>;
}

/** Opens a window, with the fake VS Code in its initial state, until the test ends. */
export function openTestWindow(): TestWindow {
  fake.reset();
  const home = temporaryFolder();
  symlinkSync(inject('assets'), join(home, 'dist'), 'junction');
  const { services, log } = testServices(home, join(home, 'storage', 'us'));
  // What is left would show its messages in the windows of later tests.
  onTestFinished(() => {
    for (const each of services.context.subscriptions.toReversed()) each.dispose();
  });
  return { home, services, log };
}

/** Makes the search for agents' stores use this folder until the test ends. */
export function stubHome(home: string): void {
  vi.stubEnv('CLAUDE_CONFIG_DIR', join(home, '.claude'));
  vi.stubEnv('XDG_CONFIG_HOME', join(home, '.config'));
  vi.stubEnv('HOME', home);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}
