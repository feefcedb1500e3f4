import type { ToolExchange } from '../../messages/exchanges';
import { makeFileKey } from '../../messages/filePath';
import { getToolRule, type ToolTable } from '../../messages/tools';
import { getCommandLine, parseExitStatus } from './commandsRun';
import { findErrorLines } from '../operations/errorLines';
import { listTouchedPaths } from '../../messages/filesTouched';

/** A failed call that did not succeed later. */
export interface UnresolvedError {
  readonly message: number;
  readonly subject: string;
  readonly error: string;
}

const hasExchangeFailed = (exchange: ToolExchange): boolean => {
  const status = parseExitStatus(exchange);
  return exchange.isError || (typeof status === 'number' && status !== 0);
};

/** A refusal by the user is not an error. */
const REFUSED_BY_USER = /doesn't want to (?:proceed|take this action)|user (?:denied|rejected)|Request interrupted/i;

/** Oldest first; of repeated failures only the last. */
export function findUnresolvedErrors(exchanges: readonly ToolExchange[], tools: ToolTable): UnresolvedError[] {
  const errorByTarget = new Map<string, UnresolvedError>();
  for (const exchange of exchanges) {
    if (exchange.resultMessage === undefined || REFUSED_BY_USER.test(exchange.resultText.slice(0, 300))) continue;
    const { subject, key } = getErrorSubject(exchange, tools);
    errorByTarget.delete(key);
    if (hasExchangeFailed(exchange)) {
      errorByTarget.set(key, {
        message: exchange.resultMessage,
        subject,
        error: getBeginningOfError(exchange.resultText),
      });
    }
  }
  return [...errorByTarget.values()];
}

/** A later success with the same key resolves the error. */
function getErrorSubject(exchange: ToolExchange, tools: ToolTable): { readonly subject: string; readonly key: string } {
  const kind = getToolRule(tools, exchange)?.kind;
  const [path] = kind === 'command' ? [] : listTouchedPaths(tools, exchange);
  if (path !== undefined) {
    const action = kind === 'write' || kind === 'edit' ? 'changing' : exchange.tool;
    return { subject: `${action} ${path}`, key: `${action} ${makeFileKey(path)}` };
  }
  const subject = kind === 'command' ? `\`${getProgramName(getCommandLine(exchange))}\`` : exchange.tool;
  return { subject, key: subject };
}

/** `cd x && go test ./...` and `go test ./pkg` are attempts at the same thing. */
function getProgramName(line: string): string {
  const command = line.replace(/^(?:cd \S+ *(?:&&|;) *)+/, '').replace(/^(?:\w+=\S* +)+/, '');
  return (/^\S+(?: +[\w:-]+)?/.exec(command)?.[0] ?? command).trim();
}

const MAX_ERROR_CHARS = 240;

/** Writes an error on one line, without the tags that agents put around it. */
export const toErrorTextOnOneLine = (text: string): string =>
  text
    .replace(/<\/?(?:error|tool_use_error|error_details)>/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Long output often begins with what went well, so it is quoted from its first error line on. */
function getBeginningOfError(text: string): string {
  const wholeText = toErrorTextOnOneLine(text);
  const [firstLine] = findErrorLines(text);
  const isErrorLineBeyondLimit =
    firstLine !== undefined &&
    !wholeText.slice(0, MAX_ERROR_CHARS).includes(toErrorTextOnOneLine(text.slice(firstLine.start, firstLine.end)));
  const excerpt = isErrorLineBeyondLimit ? toErrorTextOnOneLine(text.slice(firstLine.start)) : wholeText;
  return excerpt.length > MAX_ERROR_CHARS ? `${excerpt.slice(0, MAX_ERROR_CHARS).toWellFormed()}…` : excerpt;
}
