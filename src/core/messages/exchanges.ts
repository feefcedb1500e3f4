import { copyWithoutSpareCapacity } from '../keptList';
import {
  readCallsAndResults,
  type CallInMessage,
  type MessageCallsAndResults,
  type PlacedContent,
  type ResultInMessage,
} from './messagePart';
import type { ApiMessage, ContentPlace } from './types';

export type { PlacedContent } from './messagePart';

export interface ToolExchange {
  readonly tool: string;
  /** The call's parameters by name. For XML calls, all values are strings. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly callMessage: number;
  readonly parameters: readonly PlacedContent[];
  /** Index of the message with the result; undefined if the call is unanswered. */
  readonly resultMessage: number | undefined;
  readonly results: readonly PlacedContent[];
  readonly resultText: string;
  readonly isError: boolean;
  /**
   * True if the result has the user's own words. Set by the reader of the agent's format, never
   * derived from the text.
   */
  readonly isUserAnswer: boolean;
  /** True if the agent shows what the tool would have returned, without a call. */
  readonly isDisplay: boolean;
}

/**
 * Results of our recall tools start with the reference. Codex prefixes MCP results, and some
 * versions wrap them in JSON.
 */
const RECALLED_RESULT = /^(?:Wall time: [^\n]*\nOutput:\n)?(?:\[\{[^[]{0,100}"text":")?\[ref [0-9a-f]{6,64}:/;

/** VS Code's chat and the MCP server add a prefix to the name. */
export const isRecallExchange = ({ tool, resultText }: ToolExchange): boolean =>
  /(?:recall|search)$/i.test(tool) && RECALLED_RESULT.test(resultText);

export const getContentPlace = (content: PlacedContent): ContentPlace => ({
  message: content.message,
  path: content.path,
});

/**
 * Returns the identical exchange objects if the same messages are passed again at the same indexes.
 */
export const listToolExchanges = (messages: readonly ApiMessage[]): readonly ToolExchange[] =>
  new Exchanges().getExchanges(messages);

/** Reuses the exchanges of earlier calls: an unchanged message costs only one comparison. */
export class Exchanges {
  private pairer = new ExchangePairer();

  /** Returns the identical list if nothing changed. */
  getExchanges(messages: readonly ApiMessage[]): readonly ToolExchange[] {
    if (!this.pairer.applyChanges(messages)) this.pairer = new ExchangePairer();
    this.pairer.addMessages(messages);
    return this.pairer.joinChangedExchanges();
  }
}

interface CallWithResult {
  readonly callNumber: number;
  call: CallInMessage;
  result: ResultInMessage | undefined;
}

interface MessageWithPairedCalls {
  readonly message: ApiMessage;
  readonly part: MessageCallsAndResults;
  /** Native calls come before XML calls. */
  readonly calls: readonly CallWithResult[];
  /**
   * The calls that the message answers, native ones first; undefined for an answer without a call.
   */
  readonly answeredCalls: readonly (CallWithResult | undefined)[];
  readonly displays: readonly CallWithResult[];
}

class ExchangePairer {
  private readonly messages: MessageWithPairedCalls[] = [];
  private exchanges: readonly ToolExchange[] = [];
  /**
   * If a model reuses an ID, answers belong to the calls of the last message with this ID, in
   * order. Surplus answers belong to no call.
   */
  private readonly openCallsById = new Map<string, CallWithResult[]>();
  private callCount = 0;
  private readonly changedPairs = new Set<CallWithResult>();

  /** @returns false if messages were removed, or their calls or answers differ */
  applyChanges(messages: readonly ApiMessage[]): boolean {
    if (messages.length < this.messages.length) return false;
    for (let index = 0; index < this.messages.length; index++) {
      const pairedMessage = this.messages[index] as MessageWithPairedCalls;
      const message = messages[index];
      if (!message || message === pairedMessage.message) continue;
      const part = readCallsAndResults(message, index);
      if (describeCallsAndResultsShape(part) !== describeCallsAndResultsShape(pairedMessage.part)) return false;
      this.messages[index] = { ...pairedMessage, message, part };
      listCallsInMessage(part).forEach((call, at) => {
        this.markChanged(pairedMessage.calls[at], { call });
      });
      listResultsInMessage(part).forEach(({ result }, at) => {
        this.markChanged(pairedMessage.answeredCalls[at], { result });
      });
      part.displays.forEach((display, at) => {
        this.markChanged(pairedMessage.displays[at], display);
      });
    }
    return true;
  }

  addMessages(messages: readonly ApiMessage[]): void {
    for (let index = this.messages.length; index < messages.length; index++) {
      const message = messages[index] as ApiMessage;
      const callsAndResults = readCallsAndResults(message, index);
      const answeredCalls = [
        ...callsAndResults.answers.map(({ id }) => this.takeUnansweredCall(id)),
        ...this.matchXmlAnswers(callsAndResults.xmlAnswers),
      ];
      listResultsInMessage(callsAndResults).forEach(({ result }, at) => {
        this.markChanged(answeredCalls[at], { result });
      });
      const calls = listCallsInMessage(callsAndResults).map((call): CallWithResult => ({
        callNumber: this.callCount++,
        call,
        result: undefined,
      }));
      const displays = callsAndResults.displays.map((display): CallWithResult => ({
        callNumber: this.callCount++,
        ...display,
      }));
      for (const pair of [...calls, ...displays]) this.changedPairs.add(pair);
      for (const { id } of callsAndResults.calls) this.openCallsById.delete(id);
      callsAndResults.calls.forEach(({ id }, at) => {
        const pair = calls[at] as CallWithResult;
        const waitingCalls = this.openCallsById.get(id);
        if (waitingCalls) waitingCalls.push(pair);
        else this.openCallsById.set(id, [pair]);
      });
      this.messages.push({
        message,
        part: callsAndResults,
        calls: copyWithoutSpareCapacity(calls),
        answeredCalls: copyWithoutSpareCapacity(answeredCalls),
        displays,
      });
    }
  }

  joinChangedExchanges(): readonly ToolExchange[] {
    if (this.changedPairs.size === 0) return this.exchanges;
    const exchanges = this.exchanges.slice();
    for (const pair of this.changedPairs) exchanges[pair.callNumber] = joinCallAndResult(pair);
    this.changedPairs.clear();
    return (this.exchanges = exchanges);
  }

  private markChanged(pair: CallWithResult | undefined, change: Partial<CallWithResult>): void {
    if (pair) this.changedPairs.add(Object.assign(pair, change));
  }

  private takeUnansweredCall(id: string): CallWithResult | undefined {
    return this.openCallsById.get(id)?.shift();
  }

  /** Matches XML answers to calls of the previous message, per tool in order. */
  private matchXmlAnswers(answers: MessageCallsAndResults['xmlAnswers']): (CallWithResult | undefined)[] {
    const lastMessage = this.messages.at(-1);
    if (answers.length === 0 || !lastMessage) return answers.map(() => undefined);
    const waitingByTool = new Map<string, CallWithResult[]>();
    for (const pair of lastMessage.calls.slice(lastMessage.part.calls.length).reverse()) {
      const pairsOfTool = waitingByTool.get(pair.call.tool);
      if (pairsOfTool) pairsOfTool.push(pair);
      else waitingByTool.set(pair.call.tool, [pair]);
    }
    return answers.map(({ tool }) => waitingByTool.get(tool)?.pop());
  }
}

const listCallsInMessage = ({ calls, xmlCalls }: MessageCallsAndResults): CallInMessage[] => [
  ...calls.map(({ call }) => call),
  ...xmlCalls,
];

const listResultsInMessage = ({
  answers,
  xmlAnswers,
}: MessageCallsAndResults): { readonly result: ResultInMessage }[] => [...answers, ...xmlAnswers];

const describeCallsAndResultsShape = ({
  calls,
  xmlCalls,
  answers,
  xmlAnswers,
  displays,
}: MessageCallsAndResults): string =>
  JSON.stringify([
    calls.map(({ id }) => id),
    xmlCalls.map(({ tool }) => tool),
    answers.map(({ id }) => id),
    xmlAnswers.map(({ tool }) => tool),
    displays.length,
  ]);

interface CachedExchange {
  readonly call: CallInMessage;
  readonly result: ResultInMessage | undefined;
  readonly exchange: ToolExchange;
}

/**
 * The key is the call, or the result if the call already has another exchange: a conversation and
 * its view often share only one of the two.
 */
const exchangeByCall = new WeakMap<CallInMessage | ResultInMessage, CachedExchange>();

function joinCallAndResult({ call, result }: CallWithResult): ToolExchange {
  const cachedByCall = exchangeByCall.get(call);
  if (cachedByCall && cachedByCall.result === result) return cachedByCall.exchange;
  const cachedByResult = result && exchangeByCall.get(result);
  if (cachedByResult?.call === call) return cachedByResult.exchange;
  const results = result?.results ?? [];
  const { tool, input, callMessage, parameters } = call;
  // A copy by spread with added fields would get a slower hidden class in V8.
  const exchange: ToolExchange = {
    tool,
    input,
    callMessage,
    parameters,
    resultMessage: result?.message,
    results,
    resultText: results.length === 1 ? (results[0]?.text ?? '') : results.map((part) => part.text).join('\n'),
    isError: result?.isError ?? false,
    isUserAnswer: result?.isUserAnswer ?? false,
    isDisplay: call.isDisplay ?? false,
  };
  exchangeByCall.set(cachedByCall && result ? result : call, { call, result, exchange });
  return exchange;
}
