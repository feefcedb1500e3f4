import * as vscode from 'vscode';
import type { LanguageModels, LmAnswerPart, LmMessage, LmModel, LmPart } from '../api/vscodeLm';

export const languageModels: LanguageModels = {
  async selectChatModels(selector) {
    const models = await vscode.lm.selectChatModels(selector);
    return models.map(wrapLanguageModel);
  },
};

function wrapLanguageModel(model: vscode.LanguageModelChat): LmModel {
  const { vendor, family, id, name, maxInputTokens } = model;
  return {
    vendor,
    family,
    id,
    name,
    maxInputTokens,
    async sendRequest(messages, { tools, toolRequired, modelOptions }, signal) {
      const cancellation = createCancellation(signal);
      const { Auto, Required } = vscode.LanguageModelChatToolMode;
      const response = await model.sendRequest(
        messages.map(toVsCodeMessage),
        {
          justification: vscode.l10n.t('Context Condenser summarizes a conversation.'),
          modelOptions,
          ...(tools.length > 0 && { tools: [...tools], toolMode: toolRequired ? Required : Auto }),
        },
        cancellation.token,
      );
      return readAnswerParts(response.stream, cancellation);
    },
  };
}

interface AbortableCancellation {
  readonly token: vscode.CancellationToken;
  readonly dispose: () => void;
}

function createCancellation(signal: AbortSignal): AbortableCancellation {
  const source = new vscode.CancellationTokenSource();
  const cancel = (): void => {
    source.cancel();
  };
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  return {
    token: source.token,
    dispose: () => {
      signal.removeEventListener('abort', cancel);
      source.dispose();
    },
  };
}

async function* readAnswerParts(
  stream: AsyncIterable<unknown>,
  cancel: AbortableCancellation,
): AsyncGenerator<LmAnswerPart, void> {
  try {
    for await (const part of stream) {
      if (part instanceof vscode.LanguageModelTextPart) yield { kind: 'text', text: part.value };
      else if (part instanceof vscode.LanguageModelToolCallPart) {
        yield { kind: 'toolCall', callId: part.callId, name: part.name, input: part.input };
      } else if (part instanceof vscode.LanguageModelDataPart && part.mimeType === 'usage') {
        yield { kind: 'usage', fields: parseJson(part.data) };
      } else {
        const thinkingText = getThinkingText(part);
        if (thinkingText !== undefined) yield { kind: 'thinking', text: thinkingText };
      }
    }
  } finally {
    cancel.dispose();
  }
}

interface ThinkingPart {
  readonly value: string | readonly string[];
}

/**
 * VS Code accepts thinking parts from every extension (1.139's extension host), but the typings
 * lack the class.
 */
const findThinkingPartClass = (): (new (value: string) => ThinkingPart) | undefined => {
  const found: unknown = Reflect.get(vscode, 'LanguageModelThinkingPart');
  return typeof found === 'function' ? (found as new (value: string) => ThinkingPart) : undefined;
};

export function createThinkingPart(text: string): vscode.LanguageModelResponsePart | undefined {
  const ThinkingPartClass = findThinkingPartClass();
  // `progress.report` accepts the part; only the typings don't say so.
  return ThinkingPartClass && (new ThinkingPartClass(text) as unknown as vscode.LanguageModelResponsePart);
}

function getThinkingText(part: unknown): string | undefined {
  const Part = findThinkingPartClass();
  if (!Part || !(part instanceof Part)) return undefined;
  return typeof part.value === 'string' ? part.value : part.value.join('');
}

function parseJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(data));
  } catch {
    return undefined;
  }
}

export function toVsCodeMessage({ role, content }: LmMessage): vscode.LanguageModelChatMessage {
  // Each role accepts the parts that the handler gives it: results from the user, calls from the
  // assistant.
  const convertedParts = content.map(toVsCodePart);
  return role === 'user'
    ? vscode.LanguageModelChatMessage.User(convertedParts as Parameters<typeof vscode.LanguageModelChatMessage.User>[0])
    : vscode.LanguageModelChatMessage.Assistant(
        convertedParts as Parameters<typeof vscode.LanguageModelChatMessage.Assistant>[0],
      );
}

type VsCodePart =
  | vscode.LanguageModelTextPart
  | vscode.LanguageModelToolCallPart
  | vscode.LanguageModelToolResultPart
  | vscode.LanguageModelDataPart;

function toVsCodePart(part: LmPart): VsCodePart {
  switch (part.kind) {
    case 'text':
    case 'thinking':
      return new vscode.LanguageModelTextPart(part.text);
    case 'toolCall':
      return new vscode.LanguageModelToolCallPart(part.callId, part.name, part.input as object);
    case 'toolResult':
      return new vscode.LanguageModelToolResultPart(part.callId, part.content.map(toVsCodePart));
    case 'data':
      return new vscode.LanguageModelDataPart(part.data, part.mimeType);
  }
}
