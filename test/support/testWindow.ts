/** A window of VS Code in which a test runs the extension's commands. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished, vi } from 'vitest';
import type { Services } from '../../src/window/services';
import type {} from './ranks';
import { testServices } from './services';
import { temporaryFolder } from './temporaryFolder';
import { fake, type window } from './vscode';

export interface TestWindow {
  /** An empty folder but for `dist`, which holds the bundles: the extension's own, and the user's home where it is needed. */
  readonly home: string;
  readonly services: Services;
  readonly log: ReturnType<typeof window.createOutputChannel>;
}

/** Opens a window for the test that runs, over the double of VS Code as it is at the start. */
export function openTestWindow(): TestWindow {
  fake.reset();
  const home = temporaryFolder();
  symlinkSync(inject('assets'), join(home, 'dist'), 'junction');
  return { home, ...testServices(home, join(home, 'storage', 'us')) };
}

/** Lets agents' stores be looked for in a folder, until the test that runs ends. */
export function stubHome(home: string): void {
  vi.stubEnv('CLAUDE_CONFIG_DIR', join(home, '.claude'));
  vi.stubEnv('XDG_CONFIG_HOME', join(home, '.config'));
  vi.stubEnv('HOME', home);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}
