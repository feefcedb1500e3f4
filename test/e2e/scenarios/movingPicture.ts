/**
 * Records the README's animation: an agent works beyond its window. `npm run picture` uses the
 * frames in test-results/picture.
 */
import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { MARKER_START } from '../../../src/core/messages/markers';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply, type Behaviour } from '../../servers/behaviour';
import type { RecordedRequest } from '../../servers/modelServer';
import type { Scenario } from '../bed';
import { countCondensations } from '../longTask';
import { KEY, condensedOptions, chatProfile, setKey } from '../condensedModel';
import {
  answerText,
  ask,
  clickNotification,
  diffEditor,
  notification,
  openChat,
  runCommand,
  until,
  type Workbench,
} from '../workbench/index';

const NAME = 'Claude Sonnet';
const WINDOW = 72_000;
/** Number of the project's files that are read, largest first; each has about 4,000 tokens. */
const FILES = 13;
const PROMPT = 'How does a conversation become smaller here? Read the code, then tell me the way.';
const ANSWER =
  'Each pass proposes edits, `applyEdits` makes the view, and the ledger keeps every original for undo and recall.';

const CAPTION_STYLE =
  'position:fixed;left:50%;top:64px;pointer-events:none;transform:translateX(-50%);z-index:100000;padding:10px 22px;border-radius:8px;' +
  'background:#0b5cad;color:#fff;font:600 19px system-ui,sans-serif;box-shadow:0 4px 18px #0009;white-space:nowrap';

interface Frame {
  readonly file: string;
  readonly ms: number;
}

/** Takes pictures of a window with a caption. */
class Recorder {
  readonly #folder = join(root, 'test-results', 'picture');
  readonly #frames: Frame[] = [];

  constructor(private readonly bench: Workbench) {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
  }

  /** @param ms how long the frame is shown, in milliseconds. */
  async take(caption: string, ms: number): Promise<void> {
    const { page } = this.bench;
    await page.evaluate(`{
      const id = 'moving-picture-caption';
      const line = document.getElementById(id) ?? document.createElement('div');
      line.id = id;
      line.textContent = ${JSON.stringify(caption)};
      line.style.cssText = ${JSON.stringify(CAPTION_STYLE)};
      document.body.append(line);
    }`);
    const file = `${String(this.#frames.length).padStart(2, '0')}.png`;
    await page.screenshot({ path: join(this.#folder, file), animations: 'disabled', caret: 'hide' });
    this.#frames.push({ file, ms });
    writeFileSync(join(this.#folder, 'frames.json'), JSON.stringify(this.#frames, undefined, 2));
  }
}

/** Returns the project's files by path. */
const project = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    globSync('src/{core,live}/**/*.ts', { cwd: root })
      .filter((path) => !/test/i.test(path))
      .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const)
      .toSorted(([, a], [, b]) => b.length - a.length)
      .slice(0, FILES),
  );

const isStep = ({ body }: RecordedRequest): boolean => Array.isArray(body['tools']);

const recordsAnAgentAtWork: Scenario = async (bed) => {
  const files = project();
  const paths = Object.keys(files);
  const folder = bed.folder(files);
  // Each answer waits until its frame was taken.
  const steps = paths.map(() => {
    let resolve = (): void => undefined;
    const taken = new Promise<void>((done) => (resolve = done));
    return { taken, resolve };
  });
  let next = 0;
  const script = (request: RecordedRequest): Behaviour => {
    if (!isStep(request)) return reply('How a conversation becomes smaller');
    const step = next++;
    const path = paths[step];
    if (path === undefined) return reply(ANSWER);
    const reads = callsTool({
      name: 'read_file',
      input: { filePath: join(folder, path), startLine: 1, endLine: 400 },
    });
    return { ...reads, ...(steps[step] && { firstByte: steps[step].taken }) };
  };
  const server = await startAnthropicServer({ apiKey: KEY, script, maxContextTokens: WINDOW });
  bed.atEnd(() => server.close());
  const profile = chatProfile(server, { name: NAME, contextWindow: WINDOW, maxOutputTokens: 8_000 });
  const bench = await bed.open({
    ...condensedOptions(profile, {
      'contextCondenser.notifications': 'notification',
      // Without this, VS Code on a busy machine would warn that it stopped comparing.
      'diffEditor.maxComputationTime': 0,
    }),
    folder,
    size: { width: 1280, height: 760 },
  });
  await setKey(bench, NAME);
  await openChat(bench, NAME);
  await runCommand(bench, 'View: Toggle Primary Side Bar Visibility');
  await runCommand(bench, 'Notifications: Clear All Notifications');
  const recorder = new Recorder(bench);
  await ask(bench, PROMPT);
  let condensed = 0;
  for (const [step, { resolve }] of steps.entries()) {
    await until(`request ${step}`, () => next > step);
    if (countCondensations(bench) === 0)
      await recorder.take('An agent reads file after file, and its context window fills', 600);
    else if (condensed++ === 0) {
      await notification(bench, 'Condensed “');
      await recorder.take('Before it is full, the conversation is condensed. No model is called', 4_000);
    }
    resolve();
  }
  await answerText(bench, (text) => text.includes('applyEdits'));
  assert.ok(condensed > 0, 'it was condensed while it read');
  await recorder.take('The agent continues', 1_500);
  await clickNotification(bench, 'Condensed “', 'Show Diff');
  await diffEditor(bench, ({ modified }) => modified.some((line) => line.includes(MARKER_START)));
  await recorder.take('A short marker replaces what was removed; the agent can recall it', 3_500);
  await runCommand(bench, 'Context Condenser: Undo the Last Condensation');
  await notification(bench, /undone|reverted/i);
  await recorder.take('Every condensation can be undone', 2_500);
  assert.ok(server.requests.every(({ status }) => status === 200));
};

export const movingPicture: Scenario = Object.assign(recordsAnAgentAtWork, { lane: 'long' as const });
