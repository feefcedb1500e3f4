import { keptList } from '../keptList';
import { readMessagePart, type Call, type MessagePart, type PlacedContent, type Result } from './messagePart';
import type { ApiMessage, Place } from './types';

export type { PlacedContent } from './messagePart';

/** A tool call together with its result, native or XML-era. */
export interface ToolExchange {
  readonly tool: string;
  /** The parameters; XML-era values are strings. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Index of the assistant's message with the call. */
  readonly callMessage: number;
  readonly parameters: readonly PlacedContent[];
  /** Index of the user's message with the result; undefined while unanswered. */
  readonly resultMessage: number | undefined;
  readonly results: readonly PlacedContent[];
  /** The result's whole text, its parts joined by newlines. */
  readonly resultText: string;
  readonly isError: boolean;
  /** A person speaks in the result; told by the reader of the agent's format, never by the result's text. */
  readonly isPersonsAnswer: boolean;
  /** Nobody called: the agent's program shows what the tool would have given. */
  readonly isDisplay: boolean;
}

/**
 * What our own tools find begins with its reference. Codex puts its words before a result of an MCP server, and some of its versions
 * the result's JSON around the text.
 */
const RECALLED = /^(?:Wall time: [^\n]*\nOutput:\n)?(?:\[\{[^[]{0,100}"text":")?\[ref [0-9a-f]{6,64}:/;

/** Whether our own tools gave back what had been condensed away. Their names end so in VS Code's chat and on the MCP server. */
export const isRecall = ({ tool, resultText }: ToolExchange): boolean =>
  /(?:recall|search)$/i.test(tool) && RECALLED.test(resultText);

/** Where a content stands, without the content. */
export const getPlace = (content: PlacedContent): Place => ({ message: content.message, path: content.path });

/**
 * All tool calls of a conversation with their results, in the order of the calls. The same messages at the same indexes
 * give the very same exchanges.
 */
export const toolExchanges = (messages: readonly ApiMessage[]): readonly ToolExchange[] => new Exchanges().of(messages);

/** The tool calls of a conversation whose messages change and come: a message that is as it was costs a comparison. */
export class Exchanges {
  private pairing = new ExchangePairer();

  /** The exchanges of the conversation as it now stands; the very same list where none has changed. */
  of(messages: readonly ApiMessage[]): readonly ToolExchange[] {
    if (!this.pairing.change(messages)) this.pairing = new ExchangePairer();
    this.pairing.grow(messages);
    return this.pairing.joined();
  }
}

/** A call and what answers it. */
interface Pair {
  /** Its place among all calls. */
  readonly at: number;
  call: Call;
  result: Result | undefined;
}

/** A message's part in calls and results. */
interface PairedMessage {
  readonly message: ApiMessage;
  readonly part: MessagePart;
  /** Its own calls, the native ones first. */
  readonly calls: readonly Pair[];
  /** The calls that its answers belong to, the native ones first; undefined for an answer that is nobody's. */
  readonly answered: readonly (Pair | undefined)[];
  readonly displays: readonly Pair[];
}

class ExchangePairer {
  private readonly messages: PairedMessage[] = [];
  private exchanges: readonly ToolExchange[] = [];
  /**
   * Calls that wait, by id. Some models use an id again: across messages it means the last call, and several calls of one
   * message are answered in their order. An answer too many is nobody's.
   */
  private readonly open = new Map<string, Pair[]>();
  private count = 0;
  /** Calls that came or changed since the exchanges were joined. */
  private readonly touched = new Set<Pair>();

  /**
   * Brings the messages that are known to what they now are.
   * @returns false where some have gone, or one has other calls or answers than it had.
   */
  change(messages: readonly ApiMessage[]): boolean {
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

  /** Adds the messages that are new. */
  grow(messages: readonly ApiMessage[]): void {
    for (let index = this.messages.length; index < messages.length; index++) {
      const message = messages[index] as ApiMessage;
      const part = readMessagePart(message, index);
      const answered = [...part.answers.map(({ id }) => this.take(id)), ...this.takeXml(part.xmlAnswers)];
      listAnswers(part).forEach(({ result }, at) => {
        this.touch(answered[at], { result });
      });
      const calls = listCalls(part).map((call): Pair => ({ at: this.count++, call, result: undefined }));
      const displays = part.displays.map((display): Pair => ({ at: this.count++, ...display }));
      for (const pair of [...calls, ...displays]) this.touched.add(pair);
      for (const { id } of part.calls) this.open.delete(id);
      part.calls.forEach(({ id }, at) => {
        const pair = calls[at] as Pair;
        const waiting = this.open.get(id);
        if (waiting) waiting.push(pair);
        else this.open.set(id, [pair]);
      });
      this.messages.push({ message, part, calls: keptList(calls), answered: keptList(answered), displays });
    }
  }

  joined(): readonly ToolExchange[] {
    if (this.touched.size === 0) return this.exchanges;
    const exchanges = this.exchanges.slice();
    for (const pair of this.touched) exchanges[pair.at] = joined(pair);
    this.touched.clear();
    return (this.exchanges = exchanges);
  }

  private touch(pair: Pair | undefined, change: Partial<Pair>): void {
    if (pair) this.touched.add(Object.assign(pair, change));
  }

  private take(id: string): Pair | undefined {
    return this.open.get(id)?.shift();
  }

  /** Gives the XML-era answers the calls of the message before: of each tool in order. */
  private takeXml(answers: MessagePart['xmlAnswers']): (Pair | undefined)[] {
    const last = this.messages.at(-1);
    if (answers.length === 0 || !last) return answers.map(() => undefined);
    const waiting = new Map<string, Pair[]>();
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

/** The part of a message that decides which call belongs to which answer. */
const describeShape = ({ calls, xmlCalls, answers, xmlAnswers, displays }: MessagePart): string =>
  JSON.stringify([
    calls.map(({ id }) => id),
    xmlCalls.map(({ tool }) => tool),
    answers.map(({ id }) => id),
    xmlAnswers.map(({ tool }) => tool),
    displays.length,
  ]);

/** An exchange with what it was joined of. */
interface JoinedExchanges {
  readonly call: Call;
  readonly result: Result | undefined;
  readonly exchange: ToolExchange;
}

/** By call, or by result where the call has another already: a conversation and its view often share one of the two. */
const known = new WeakMap<Call | Result, JoinedExchanges>();

function joined({ call, result }: Pair): ToolExchange {
  const byCall = known.get(call);
  if (byCall && byCall.result === result) return byCall.exchange;
  const byResult = result && known.get(result);
  if (byResult?.call === call) return byResult.exchange;
  const results = result?.results ?? [];
  const { tool, input, callMessage, parameters } = call;
  // Field by field: what is added to a spread lies in a list of its own.
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
  known.set(byCall && result ? result : call, { call, result, exchange });
  return exchange;
}
