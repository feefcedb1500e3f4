import { trimList } from '../keptList';
import { readMessagePart, type Call, type MessagePart, type PlacedContent, type Result } from './messagePart';
import type { ApiMessage, Place } from './types';

export type { PlacedContent } from './messagePart';

export interface ToolExchange {
  readonly tool: string;
  /** Values of XML calls are strings. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly callMessage: number;
  readonly parameters: readonly PlacedContent[];
  /** Undefined if unanswered. */
  readonly resultMessage: number | undefined;
  readonly results: readonly PlacedContent[];
  readonly resultText: string;
  readonly isError: boolean;
  /**
   * True if the user speaks in the result. Set by the format's reader, never derived from the text.
   */
  readonly isPersonsAnswer: boolean;
  /** True if the agent shows what the tool would have returned, without a call. */
  readonly isDisplay: boolean;
}

/**
 * Results of our recall tools start with the reference. Codex prefixes MCP results, and some
 * versions wrap them in JSON.
 */
const RECALLED_RESULT = /^(?:Wall time: [^\n]*\nOutput:\n)?(?:\[\{[^[]{0,100}"text":")?\[ref [0-9a-f]{6,64}:/;

/** VS Code's chat and the MCP server add a prefix to the name. */
export const isRecall = ({ tool, resultText }: ToolExchange): boolean =>
  /(?:recall|search)$/i.test(tool) && RECALLED_RESULT.test(resultText);

export const getPlace = (content: PlacedContent): Place => ({ message: content.message, path: content.path });

/** The same messages at the same indexes return the identical exchange objects. */
export const listToolExchanges = (messages: readonly ApiMessage[]): readonly ToolExchange[] =>
  new Exchanges().getExchanges(messages);

/** An unchanged message costs one comparison. */
export class Exchanges {
  private pairing = new ExchangePairer();

  /** Returns the identical list if nothing changed. */
  getExchanges(messages: readonly ApiMessage[]): readonly ToolExchange[] {
    if (!this.pairing.applyChanges(messages)) this.pairing = new ExchangePairer();
    this.pairing.addMessages(messages);
    return this.pairing.joinExchanges();
  }
}

interface CallWithResult {
  readonly at: number;
  call: Call;
  result: Result | undefined;
}

interface PairedMessage {
  readonly message: ApiMessage;
  readonly part: MessagePart;
  /** Native calls come first. */
  readonly calls: readonly CallWithResult[];
  /** Native calls come first; undefined for an answer without a call. */
  readonly answered: readonly (CallWithResult | undefined)[];
  readonly displays: readonly CallWithResult[];
}

class ExchangePairer {
  private readonly messages: PairedMessage[] = [];
  private exchanges: readonly ToolExchange[] = [];
  /**
   * If a model reuses an ID, an answer belongs to the last message with it, whose calls are
   * answered in order. Surplus answers belong to no call.
   */
  private readonly open = new Map<string, CallWithResult[]>();
  private count = 0;
  private readonly touched = new Set<CallWithResult>();

  /** @returns false if messages were removed, or their calls or answers differ */
  applyChanges(messages: readonly ApiMessage[]): boolean {
    if (messages.length < this.messages.length) return false;
    for (let index = 0; index < this.messages.length; index++) {
      const known = this.messages[index] as PairedMessage;
      const message = messages[index];
      if (!message || message === known.message) continue;
      const part = readMessagePart(message, index);
      if (describeShape(part) !== describeShape(known.part)) return false;
      this.messages[index] = { ...known, message, part };
      listCalls(part).forEach((call, at) => {
        this.touch(known.calls[at], { call });
      });
      listAnswers(part).forEach(({ result }, at) => {
        this.touch(known.answered[at], { result });
      });
      part.displays.forEach((display, at) => {
        this.touch(known.displays[at], display);
      });
    }
    return true;
  }

  addMessages(messages: readonly ApiMessage[]): void {
    for (let index = this.messages.length; index < messages.length; index++) {
      const message = messages[index] as ApiMessage;
      const part = readMessagePart(message, index);
      const answered = [...part.answers.map(({ id }) => this.take(id)), ...this.takeXml(part.xmlAnswers)];
      listAnswers(part).forEach(({ result }, at) => {
        this.touch(answered[at], { result });
      });
      const calls = listCalls(part).map((call): CallWithResult => ({ at: this.count++, call, result: undefined }));
      const displays = part.displays.map((display): CallWithResult => ({ at: this.count++, ...display }));
      for (const pair of [...calls, ...displays]) this.touched.add(pair);
      for (const { id } of part.calls) this.open.delete(id);
      part.calls.forEach(({ id }, at) => {
        const pair = calls[at] as CallWithResult;
        const waiting = this.open.get(id);
        if (waiting) waiting.push(pair);
        else this.open.set(id, [pair]);
      });
      this.messages.push({ message, part, calls: trimList(calls), answered: trimList(answered), displays });
    }
  }

  joinExchanges(): readonly ToolExchange[] {
    if (this.touched.size === 0) return this.exchanges;
    const exchanges = this.exchanges.slice();
    for (const pair of this.touched) exchanges[pair.at] = joinPair(pair);
    this.touched.clear();
    return (this.exchanges = exchanges);
  }

  private touch(pair: CallWithResult | undefined, change: Partial<CallWithResult>): void {
    if (pair) this.touched.add(Object.assign(pair, change));
  }

  private take(id: string): CallWithResult | undefined {
    return this.open.get(id)?.shift();
  }

  /** Matches XML answers to calls of the previous message, per tool in order. */
  private takeXml(answers: MessagePart['xmlAnswers']): (CallWithResult | undefined)[] {
    const last = this.messages.at(-1);
    if (answers.length === 0 || !last) return answers.map(() => undefined);
    const waiting = new Map<string, CallWithResult[]>();
    for (const pair of last.calls.slice(last.part.calls.length).reverse()) {
      const ofTool = waiting.get(pair.call.tool);
      if (ofTool) ofTool.push(pair);
      else waiting.set(pair.call.tool, [pair]);
    }
    return answers.map(({ tool }) => waiting.get(tool)?.pop());
  }
}

const listCalls = ({ calls, xmlCalls }: MessagePart): Call[] => [...calls.map(({ call }) => call), ...xmlCalls];

const listAnswers = ({ answers, xmlAnswers }: MessagePart): { readonly result: Result }[] => [
  ...answers,
  ...xmlAnswers,
];

const describeShape = ({ calls, xmlCalls, answers, xmlAnswers, displays }: MessagePart): string =>
  JSON.stringify([
    calls.map(({ id }) => id),
    xmlCalls.map(({ tool }) => tool),
    answers.map(({ id }) => id),
    xmlAnswers.map(({ tool }) => tool),
    displays.length,
  ]);

interface JoinedExchanges {
  readonly call: Call;
  readonly result: Result | undefined;
  readonly exchange: ToolExchange;
}

/**
 * Keyed by call, or by result if the call is taken: a conversation and its view often share one of
 * the two.
 */
const joinedByCall = new WeakMap<Call | Result, JoinedExchanges>();

function joinPair({ call, result }: CallWithResult): ToolExchange {
  const byCall = joinedByCall.get(call);
  if (byCall && byCall.result === result) return byCall.exchange;
  const byResult = result && joinedByCall.get(result);
  if (byResult?.call === call) return byResult.exchange;
  const results = result?.results ?? [];
  const { tool, input, callMessage, parameters } = call;
  // A spread with added fields would get a slower hidden class.
  const exchange: ToolExchange = {
    tool,
    input,
    callMessage,
    parameters,
    resultMessage: result?.message,
    results,
    resultText: results.length === 1 ? (results[0]?.text ?? '') : results.map((part) => part.text).join('\n'),
    isError: result?.isError ?? false,
    isPersonsAnswer: result?.isPersonsAnswer ?? false,
    isDisplay: call.isDisplay ?? false,
  };
  joinedByCall.set(byCall && result ? result : call, { call, result, exchange });
  return exchange;
}
