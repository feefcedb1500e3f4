/**
 * The message model: the shape of Anthropic's Messages API with unknown fields kept. It is the one form inside the core;
 * every other format is converted at the edge and back without loss. Values are immutable: a change makes new objects
 * along its path and shares the rest.
 *
 * Source of the shapes: Anthropic API reference, "Messages" (content blocks).
 */

export type Role = 'user' | 'assistant' | 'system';

/** Fields that we don't know are kept as they came. */
interface Open {
  readonly [field: string]: unknown;
}

export interface TextBlock extends Open {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageBlock extends Open {
  readonly type: 'image';
  readonly source: unknown;
}

export interface ThinkingBlock extends Open {
  readonly type: 'thinking';
  readonly thinking: string;
}

export interface ToolUseBlock extends Open {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  /** An object in every valid message; histories of interrupted calls hold other values, which are kept. */
  readonly input: unknown;
}

/** Absent content is an empty result. */
export type ToolResultContent = string | readonly Block[] | undefined;

export interface ToolResultBlock extends Open {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content?: ToolResultContent;
  readonly is_error?: boolean;
}

/** Any other block (redacted_thinking, document, server tools, what comes later): kept as it is. */
export interface OtherBlock extends Open {
  readonly type: string;
}

export type Block = TextBlock | ImageBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | OtherBlock;

export type MessageContent = string | readonly Block[];

export interface ApiMessage extends Open {
  readonly role: Role;
  readonly content: MessageContent;
}

/** The kinds of content that a pass configures. Images, thinking and unknown blocks belong to none of them. */
export type ContentType = 'messageText' | 'toolParameters' | 'toolResults';

/** Keys from a message down to one of its strings, such as `['content', 2, 'input', 'command']`. */
export type Path = readonly (string | number)[];

/** Where a string stands in a conversation. */
export interface Place {
  /** Index of the message in the original conversation. */
  readonly message: number;
  readonly path: Path;
}
