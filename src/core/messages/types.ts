/**
 * Anthropic's Messages API (API reference, "Messages"). Other formats are converted losslessly.
 * Values are immutable: a change copies the objects along its path.
 */

export type Role = 'user' | 'assistant' | 'system';

/** Unknown fields are kept. */
interface ObjectWithUnknownFields {
  readonly [field: string]: unknown;
}

export interface TextBlock extends ObjectWithUnknownFields {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageBlock extends ObjectWithUnknownFields {
  readonly type: 'image';
  readonly source: unknown;
}

export interface ThinkingBlock extends ObjectWithUnknownFields {
  readonly type: 'thinking';
  readonly thinking: string;
}

export interface ToolUseBlock extends ObjectWithUnknownFields {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  /** An object in valid messages; after interrupted calls, histories contain other values. */
  readonly input: unknown;
}

/** Undefined means an empty result. */
export type ToolResultContent = string | readonly Block[] | undefined;

export interface ToolResultBlock extends ObjectWithUnknownFields {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content?: ToolResultContent;
  readonly is_error?: boolean;
}

/** Any other block (redacted_thinking, document, server tools, future ones), kept unchanged. */
export interface OtherBlock extends ObjectWithUnknownFields {
  readonly type: string;
}

export type Block = TextBlock | ImageBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | OtherBlock;

export type MessageContent = string | readonly Block[];

export interface ApiMessage extends ObjectWithUnknownFields {
  readonly role: Role;
  readonly content: MessageContent;
}

/** Images, thinking and unknown blocks have no content type. */
export type ContentType = 'messageText' | 'toolParameters' | 'toolResults';

/** Keys from a message to a string, such as `['content', 2, 'input', 'command']`. */
export type Path = readonly (string | number)[];

export interface ContentPlace {
  /** Index in the original conversation. */
  readonly message: number;
  readonly path: Path;
}
