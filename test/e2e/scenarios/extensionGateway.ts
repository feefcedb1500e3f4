/**
 * Tests agents that are extensions with a base URL. They use one gateway, which serves all windows.
 */
import Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { MARKER_START } from '../../../src/core/messages/markers';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { reply } from '../../servers/behaviour';
import type { SharedScenarios, SharedScenario } from '../bed';
import { listAddresses, switchVendor, gatewayWindow } from '../agentTerminal';
import { checkGone, listRunningGateways, listGatewayProcesses } from '../gateways';
import {
  clickNotification,
  dismiss,
  closeParts,
  notification,
  openContainer,
  pick,
  quickInput,
  screenshot,
  setTheme,
  treeRows,
  until,
} from '../workbench/index';

const VIEW = 'Context Condenser';

/**
 * Simulates an extension's agent. Each request contains the whole conversation so far, in which
 * every second read is of the same file.
 */
class StandInExtension {
  private readonly messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Put the letters in order.' }];
  private readonly client: Anthropic;

  constructor(baseURL: string) {
    this.client = new Anthropic({ baseURL, apiKey: 'sk-test-stand-in', maxRetries: 0 });
  }

  async ask(): Promise<string> {
    const tools = [{ name: 'Read', input_schema: { type: 'object' as const } }];
    const asked = { model: 'claude-sonnet-5', max_tokens: 4_000, tools, messages: this.messages };
    const [first] = (await this.client.messages.create(asked)).content;
    const step = this.messages.length;
    const lines = Array.from(
      { length: 60 },
      (_, line) => `export const letter${step % 4 < 2 ? 0 : step}_${line} = ${line * 31};`,
    );
    const id = `toolu_${step}`;
    this.messages.push(
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id, name: 'Read', input: { file_path: `/${step % 4 < 2 ? 0 : step}.ts` } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: lines.join('\n') }] },
    );
    return first?.type === 'text' ? first.text : '';
  }
}

const servesExtensionsThatTakeABaseUrl: SharedScenario = async (bench, bed) => {
  const vendor = await startAnthropicServer({ script: () => reply('Go on.') });
  try {
    switchVendor(bench, vendor);
    const shown = await listAddresses(bench);
    assert.ok(shown.some(({ description }) => /^http:\/\/127\.0\.0\.1:\d+\/…\/anthropic$/.test(description)));
    await screenshot(bench, 'gateway-addresses-dark');
    await pick(bench, 'Anthropic');
    await notification(bench, /base URL of Anthropic/);
    const address = await bench.page.evaluate('navigator.clipboard.readText()');
    assert.ok(typeof address === 'string');
    await closeParts(bench, 'notifications');

    const extension = new StandInExtension(address);
    for (let step = 0; step < 10; step++) assert.equal(await extension.ask(), 'Go on.');
    assert.ok(JSON.stringify(vendor.requests.at(-1)?.body).includes(MARKER_START), 'it is condensed');
    await openContainer(bench, VIEW);
    const isListed = (texts: readonly string[]): boolean =>
      texts.some((text) => /^Gateway for extensions ?127\.0\.0\.1:\d+$/.test(text)) &&
      texts.some((text) => text.includes('Put the lett'));
    await treeRows(bench, isListed);
    await screenshot(bench, 'gateway-row-dark');
    await setTheme(bench, 'light');
    await screenshot(bench, 'gateway-row-light');

    // The gateway serves all windows. When the terminal of its window closes, another window
    // reports that and continues at the same address.
    const other = await bed.openOn(bench.server, { folder: bed.folder(), beside: bench });
    await openContainer(other, VIEW);
    await treeRows(other, isListed);
    await closeParts(bench, 'terminals');
    await until('the gateway to end', () => listRunningGateways(bench).length === 0);
    await assert.rejects(extension.ask(), { message: 'Connection error.' });
    await clickNotification(other, /has ended with the window or terminal/, 'Start It Here');
    await quickInput(other, ({ items }) => items.some(({ label }) => label === 'Anthropic'));
    await dismiss(other);
    assert.equal(await extension.ask(), 'Go on.');

    // The gateway survives reloading its window. In a browser, VS Code may not restore the
    // terminal, but no step needs it.
    await other.reload();
    assert.equal(await extension.ask(), 'Go on.');
    await treeRows(other, isListed);

    const began = listGatewayProcesses(bench);
    assert.equal(began.length, 1);
    await listAddresses(bench);
    await pick(bench, 'End the Gateway');
    await checkGone(bench, began);
    await assert.rejects(extension.ask(), { message: 'Connection error.' });
    await treeRows(bench, (texts) =>
      texts.every((text) => !text.includes('Gateway') && !text.includes('Put the lett')),
    );
    await other.close();
  } finally {
    await vendor.close();
  }
};

export const extensionGateway: SharedScenarios = {
  open: gatewayWindow,
  scenarios: { servesExtensionsThatTakeABaseUrl },
};
