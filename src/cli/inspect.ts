import { loadFillLevelReader } from '../account/fillLevel';
import { getNoteText } from '../conversations/notes';
import { formatFillSentence } from '../core/account/fillLevel';
import { listContents } from '../core/messages/content';
import { listToolExchanges } from '../core/messages/exchanges';
import { checkConversation } from '../core/messages/firewall';
import type { ContentType } from '../core/messages/types';
import { formatTokens } from '../core/format';
import { maskValue } from '../core/secrets/maskMessages';
import { formatPlural } from '../core/plural';
import { EXIT_CODE, type ExitCode } from './io';
import { countTokensWithProgress, type CliSession } from './session';

interface ToolFigures {
  readonly tool: string;
  readonly calls: number;
  readonly errors: number;
  readonly parameterTokens: number;
  readonly resultTokens: number;
}

/** Prints facts about a conversation. Writes no files. */
export async function runInspectCommand(session: CliSession): Promise<ExitCode> {
  const { args, io, counter, calibrate } = session;
  const { conversation } = session;
  const { title, notes } = maskValue({ title: conversation.title, notes: conversation.notes.map(getNoteText) });
  const { messages } = conversation;
  countTokensWithProgress(session);
  const tokensByType = countTokensByType(session);
  const tools = maskValue(computeToolFigures(session));
  const violations = maskValue(checkConversation(messages));
  const tokens = calibrate(counter.countMessages(messages));
  const fill = (await loadFillLevelReader())(conversation, counter);
  if (args.json) {
    const { id, format, sidechains } = conversation;
    const figures = {
      id,
      format,
      title,
      messages: messages.length,
      tokens,
      fill,
      ...tokensByType,
      tools,
      violations,
      notes,
    };
    io.stdout(`${JSON.stringify({ ...figures, sidechains: sidechains.length })}\n`);
    return EXIT_CODE.done;
  }
  const lines = [
    title,
    ` - Format: ${conversation.format}, ${formatPlural(messages.length, 'message')}, ${formatTokens(tokens)} tokens`,
    ` - Context window: ${formatFillSentence(fill)}`,
    ` - Message text: ${formatTokens(tokensByType.messageText)} tokens`,
    ` - Tool parameters: ${formatTokens(tokensByType.toolParameters)} tokens`,
    ` - Tool results: ${formatTokens(tokensByType.toolResults)} tokens`,
    ` - Other (thinking, images, structure): ${formatTokens(tokens - tokensByType.messageText - tokensByType.toolParameters - tokensByType.toolResults)} tokens`,
    ...tools.map(formatToolLine),
    ...violations.map(({ rule, message, detail }) => ` - Not valid: message ${message}, ${detail} (${rule})`),
    ...notes.map((note) => ` - Note: ${note}`),
  ];
  io.stdout(`${lines.join('\n')}\n`);
  return EXIT_CODE.done;
}

const formatToolLine = ({ tool, calls, errors, resultTokens }: ToolFigures): string =>
  ` - ${tool}: ${calls} ${calls === 1 ? 'call' : 'calls'}${errors > 0 ? `, ${errors} failed` : ''}, results of ${formatTokens(resultTokens)} tokens`;

function countTokensByType({ conversation, counter, calibrate }: CliSession): Record<ContentType, number> {
  const tokens = { messageText: 0, toolParameters: 0, toolResults: 0 };
  for (const message of conversation.messages) {
    for (const content of listContents(message)) tokens[content.type] += counter.countText(content.text);
  }
  return {
    messageText: calibrate(tokens.messageText),
    toolParameters: calibrate(tokens.toolParameters),
    toolResults: calibrate(tokens.toolResults),
  };
}

/** Returns figures by tool, largest results first. */
function computeToolFigures({ conversation, counter, calibrate }: CliSession): ToolFigures[] {
  const figuresByTool = new Map<string, ToolFigures>();
  for (const exchange of listToolExchanges(conversation.messages)) {
    const { tool, isError, parameters, results, isDisplay } = exchange;
    const toolFigures = figuresByTool.get(tool) ?? { tool, calls: 0, errors: 0, parameterTokens: 0, resultTokens: 0 };
    const sumTokens = (contents: typeof results): number =>
      contents.reduce((total, content) => total + calibrate(counter.countText(content.text)), 0);
    figuresByTool.set(tool, {
      tool,
      calls: toolFigures.calls + (isDisplay ? 0 : 1),
      errors: toolFigures.errors + (isError ? 1 : 0),
      parameterTokens: toolFigures.parameterTokens + sumTokens(parameters),
      resultTokens: toolFigures.resultTokens + sumTokens(results),
    });
  }
  return [...figuresByTool.values()].sort((a, b) => b.resultTokens - a.resultTokens);
}
