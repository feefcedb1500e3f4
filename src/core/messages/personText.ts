import type { ApiMessage } from './types';

/**
 * Elements that agents put into user messages around or instead of what a person wrote: Claude Code's command wrappers,
 * reminders and shell echoes, its editor context; Roo's and Cline's environment, file contents and notices; what Codex and
 * Copilot tell of themselves.
 */
const MACHINE_ELEMENTS = [
  'system-reminder',
  'command-name',
  'command-message',
  'command-args',
  'command-contents',
  'local-command-caveat',
  'local-command-stdout',
  'local-command-stderr',
  'bash-input',
  'bash-stdout',
  'bash-stderr',
  'user-prompt-submit-hook',
  'user-memory-input',
  'task-notification',
  'ide_opened_file',
  'ide_selection',
  'ide_diagnostics',
  'environment_details',
  'file_content',
  'folder_content',
  'url_content',
  'workspace_diagnostics',
  'explicit_instructions',
  'system_notice',
  'environment_context',
  'user_instructions',
  'turn_aborted',
  'current_datetime',
].join('|');

/** An element that isn't closed reaches to the end: the text was cut. */
const MACHINE_TEXT = new RegExp(`<(${MACHINE_ELEMENTS})(?=[\\s>])[^<>]*>(?:[\\s\\S]*?</\\1>|[\\s\\S]*$)`, 'gi');

/** Texts that stand for themselves: a whole block of them was not written by a person. */
const MACHINE_BLOCK =
  /^(?:Caveat: The messages below were generated|This session is being continued from a previous conversation|\[Request interrupted by user|\[[\w-]+(?: for .*)?\] Result:|\[Sliding window truncation|# AGENTS\.md instructions for |\[ERROR\] )/;

/** What Roo and Cline wrap around a person's words. */
const WRAPPER = '(?:task|user_message|user_input|feedback|answer)';
const OPEN_WRAPPER = new RegExp(`^<${WRAPPER}(?: [^>]*)?>`);
const CLOSE_WRAPPER = new RegExp(`</${WRAPPER}>$`);

/** Set by the readers or by the agent on messages that no person wrote. */
const MACHINE_FLAGS = ['isMeta', 'isCompactSummary', 'isSummary', 'isTruncationMarker'];

/** True for a message that says of itself that no person wrote it. */
export const isMachineMessage = (message: ApiMessage): boolean => MACHINE_FLAGS.some((flag) => message[flag] === true);

/** What is left of a user message's text once everything is taken out that an agent put there. */
export function personText(text: string): string {
  const rest = text.replace(MACHINE_TEXT, ' ').trim();
  if (MACHINE_BLOCK.test(rest)) return '';
  return rest.replace(OPEN_WRAPPER, '').replace(CLOSE_WRAPPER, '').trim();
}
