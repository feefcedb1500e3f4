/**
 * An example of a provider that calls a model: its author's, or one of the user's API profiles.
 * test/unit/extensionsGuide.system.test.ts compiles and runs it.
 */
import type { ContextCondenserApi, Message, Provider } from '../../../src/extensionApi/api';

/** US dollars per token of input and output. */
const PRICE = { input: 3e-6, output: 15e-6 };
const SUMMARY_TOKENS = 500;

/**
 * Returns where the messages to summarize end. A call is not separated from its result, and the
 * newest messages stay as they are.
 */
const endOf = (messages: readonly Message[]): number =>
  messages.findLastIndex(({ role }, index) => role === 'assistant' && index <= messages.length - 4);

/** @param ask sends a prompt to a model; it is not part of the API. */
export const recap = (ask: (prompt: string, signal: AbortSignal) => Promise<string>): Provider => ({
  id: 'my-extension.recap',
  name: 'Recap',
  description: 'Sums up everything but the task and the newest messages.',
  version: '1.0.0',
  usesModel: true,

  async condense({ messages, targetTokens, countTokens, onProgress }, signal) {
    const end = endOf(messages);
    const old = JSON.stringify(messages.slice(1, end));
    const all = countTokens(JSON.stringify(messages));
    if (end < 2 || (targetTokens !== undefined && all <= targetTokens)) return { changes: [] };
    onProgress({ step: 'Asking for a recap', done: 0, total: 1 });
    const text = await ask(`Sum up, in ${SUMMARY_TOKENS} tokens at most:\n${old}`, signal);
    const cost = countTokens(old) * PRICE.input + countTokens(text) * PRICE.output;
    return { changes: [{ kind: 'summary', start: 1, end, text, reason: 'summed up' }], cost };
  },

  estimate({ messages, countTokens }) {
    const end = endOf(messages);
    const all = countTokens(JSON.stringify(messages));
    if (end < 2) return Promise.resolve({ tokensAfter: all, cost: 0 });
    const old = countTokens(JSON.stringify(messages.slice(1, end)));
    return Promise.resolve({
      tokensAfter: all - old + SUMMARY_TOKENS,
      cost: old * PRICE.input + SUMMARY_TOKENS * PRICE.output,
    });
  },
});

/** Asks the model of the user's condensing profile. */
export const askUsersModel =
  (api: ContextCondenserApi) =>
  async (prompt: string, signal: AbortSignal): Promise<string> => {
    const reply = await api.askModel({ extension: 'my-publisher.my-extension', prompt, maxOutputTokens: 500, signal });
    if (reply.kind === 'denied') throw new Error('You have not allowed this extension to use your model.');
    if (reply.kind === 'failed') throw new Error(reply.message);
    return reply.text;
  };
