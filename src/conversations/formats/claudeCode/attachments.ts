/**
 * What Claude Code puts into a request for an `attachment` record: text for the model, a person's
 * words, or nothing. Versions after 2.1.233 store the text as sent (`rendered`), which takes
 * precedence; for older records the table below produces it.
 * Source unless a row names another: the renderers in npm `@anthropic-ai/claude-code` 2.1.332
 * (`i6t`), which also read older records. Checked against recorded requests in attachments.test.ts.
 */
import { isRecord, isText } from '../../../core/messages/blocks';
import type { Block } from '../../../core/messages/types';
import { type Fields, asText, stringIn } from '../../text/values';

/** How an attachment reaches the model. */
export type Sending =
  | {
      readonly kind: 'agent';
      readonly content: readonly Block[];
      readonly role: 'user' | 'system';
      /** Claude Code sends it again when the session is resumed without it. */
      readonly isRenewed: boolean;
    }
  /** Words that a person typed while Claude Code worked. */
  | { readonly kind: 'person'; readonly content: readonly Block[] }
  /** Claude Code sends nothing for it. */
  | { readonly kind: 'not-sent' }
  /** It is sent, but the record does not contain the words. */
  | { readonly kind: 'words-missing' }
  | { readonly kind: 'unknown' };

export interface Attachment {
  /** Name of the kind in the record. */
  readonly name: string;
  readonly sending: Sending;
  /**
   * Produced by our table: the record has neither the text nor the role that newer versions store.
   */
  readonly isUnrendered: boolean;
}

/** Produces the text that is sent; undefined if the record lacks the words. */
type Words = (attachment: Fields) => string | readonly (string | Block)[] | undefined;

/** The words are in one field of the record. */
const field =
  (name: string): Words =>
  (attachment) =>
    nonEmpty(stringIn(attachment, name));

/** The words are the lines of a list. */
const lines = (name: string): Words => joined((attachment) => textsIn(attachment, name));

const joined =
  (parts: (attachment: Fields) => readonly (string | undefined)[], between = '\n'): Words =>
  (attachment) =>
    nonEmpty(
      parts(attachment)
        .filter((part) => part !== undefined && part !== '')
        .join(between),
    );

/** Not sent by versions that don't store the text, or built from data that no record contains. */
const ONLY_RENDERED: Words = () => undefined;

const NOT_SENT = 'not-sent';

const noted = (attachment: Fields, name: string, words: (text: string) => string): string | undefined => {
  const text = nonEmpty(stringIn(attachment, name));
  return text === undefined ? undefined : words(text);
};

const planFile = (attachment: Fields, none: string): string => {
  const path = stringIn(attachment, 'planFilePath') ?? '';
  return attachment['planExists'] === true ? `A plan file already exists at ${path}.` : `${none} ${path}`;
};

const ROWS: Readonly<Record<string, Words | typeof NOT_SENT>> = {
  // Files and folders
  file: fileWords,
  directory: (attachment) => {
    const path = stringIn(attachment, 'path') ?? '';
    return [
      called('Bash', { command: `ls ${path}`, description: `Lists files in ${path}` }),
      result('Bash', stringIn(attachment, 'content') ?? ''),
    ];
  },
  edited_text_file: (attachment) => {
    const note = `Note: ${stringIn(attachment, 'filename') ?? ''} changed on disk since you last read it.`;
    const snippet = stringIn(attachment, 'snippet') ?? '';
    return snippet === ''
      ? `${note} The changes are not shown here.`
      : `${note} Here are the relevant changes (shown with line numbers):\n${snippet}`;
  },
  compact_file_reference: (attachment) =>
    noted(
      attachment,
      'filename',
      (name) =>
        `Note: ${name} was read before the last conversation was summarized, but the contents are too large to include.`,
    ),
  pdf_reference: (attachment) => noted(attachment, 'filename', (name) => `PDF file: ${name}.`),
  at_mention_reference: joined((attachment) => [
    `The user @-mentioned ${textsIn(attachment, 'mentions').join(', ')}`,
    'File contents are not attached automatically in this session.',
  ]),
  selected_lines_in_ide: (attachment) => selectedLines(attachment, `from ${stringIn(attachment, 'filename') ?? ''}`),
  selected_lines_in_diff: (attachment) => selectedLines(attachment, 'from the diff view'),
  opened_file_in_ide: (attachment) =>
    noted(
      attachment,
      'filename',
      (name) => `The user opened the file ${name} in the IDE. This may or may not be related to the current task.`,
    ),
  read_truncation_notice: field('banner'),
  mcp_resource: resourceWords,
  diagnostics: diagnosticsWords,
  // Memory and instructions
  nested_memory: ({ content }) =>
    isRecord(content)
      ? `Contents of ${stringIn(content, 'path') ?? ''}:\n\n${stringIn(content, 'content') ?? ''}`
      : undefined,
  relevant_memories: joined(
    (attachment) =>
      recordsIn(attachment, 'memories').map(
        (memory) =>
          `${stringIn(memory, 'header') ?? stringIn(memory, 'path') ?? ''}\n\n${stringIn(memory, 'content') ?? ''}`,
      ),
    '\n\n',
  ),
  account_memory_recall: field('content'),
  cowork_memory_context: field('content'),
  memory_update: field('summary'),
  instructions: ONLY_RENDERED,
  output_style: (attachment) =>
    noted(
      attachment,
      'style',
      (style) => `${style} output style is active. Remember to follow the specific guidelines for this style.`,
    ),
  output_style_instructions: ONLY_RENDERED,
  language: ONLY_RENDERED,
  critical_system_reminder: field('content'),
  sandbox_instructions: field('content'),
  // Listings
  skill_listing: (attachment) =>
    noted(
      attachment,
      'content',
      (list) => `The following skills are available for use with the Skill tool:\n\n${list}`,
    ),
  dynamic_skill: (attachment) =>
    `New skills discovered in ${stringIn(attachment, 'skillDir') ?? ''}, now available via the Skill tool:\n${listed(textsIn(attachment, 'skillNames'))}`,
  invoked_skills: joined(
    (attachment) => [
      'The following skills were invoked in this session.',
      ...recordsIn(attachment, 'skills').map(
        (skill) =>
          `### Skill: ${stringIn(skill, 'name') ?? ''}\nPath: ${stringIn(skill, 'path') ?? ''}\n\n${stringIn(skill, 'content') ?? ''}`,
      ),
    ],
    '\n\n',
  ),
  agent_listing_delta: joined(
    (attachment) => [
      headed('Available agent types for the Agent tool:', textsIn(attachment, 'addedLines')),
      headed('The following agent types are no longer available:', textsIn(attachment, 'removedTypes').map(dashed)),
    ],
    '\n\n',
  ),
  deferred_tools_delta: joined(
    (attachment) => [
      headed(
        'The following deferred tools are now available via ToolSearch. Their schemas are NOT loaded — calling them directly will fail with InputValidationError. Use ToolSearch with query "select:<name>[,<name>...]" to load tool schemas before calling them:',
        textsIn(attachment, 'addedLines'),
      ),
      headed('The following deferred tools are available again:', textsIn(attachment, 'readdedNames')),
      headed('The following deferred tools are no longer available:', textsIn(attachment, 'removedNames')),
    ],
    '\n\n',
  ),
  mcp_instructions_delta: joined(
    (attachment) => [
      headed(
        '# MCP Server Instructions\n\nThe following MCP servers have provided instructions for how to use their tools and resources:\n',
        textsIn(attachment, 'addedBlocks'),
        '\n\n',
      ),
      headed(
        'The following MCP servers have disconnected. Their instructions above no longer apply:',
        textsIn(attachment, 'removedNames'),
      ),
    ],
    '\n\n',
  ),
  mcp_dropped_tools_delta: (attachment) =>
    headed('# Unavailable MCP Tools', textsIn(attachment, 'addedEntries').map(dashed)),
  tool_search_usage_reminder: (attachment) =>
    `Some available tools' schemas are not loaded in this conversation yet: ${textsIn(attachment, 'undiscoveredToolNames').join(', ')}.`,
  tool_hosts_correction: lines('lines'),
  tool_hosts_notice: lines('lines'),
  claude_app_notice: lines('lines'),
  agent_ask_notice: lines('lines'),
  linked_plugin_tools_note: field('text'),
  repl_mcp_servers: field('content'),
  repl_mcp_needs_auth: ONLY_RENDERED,
  // Hooks
  hook_additional_context: joined((attachment) => {
    const texts = textsIn(attachment, 'content');
    return texts.length === 0 ? [] : [`${hookIn(attachment)} hook additional context: ${texts.join('\n')}`];
  }),
  hook_success: (attachment) => noted(attachment, 'content', (text) => `${hookIn(attachment)} hook success: ${text}`),
  hook_blocking_error: (attachment) => {
    const error = attachment['blockingError'];
    return isRecord(error)
      ? `${hookIn(attachment)} hook blocking error from command: "${stringIn(error, 'command') ?? ''}": ${stringIn(error, 'blockingError') ?? ''}`
      : undefined;
  },
  hook_stopped_continuation: (attachment) =>
    noted(attachment, 'message', (text) => `${hookIn(attachment)} hook stopped continuation: ${text}`),
  async_hook_response: joined(({ response }) => {
    if (!isRecord(response)) return [];
    const output = response['hookSpecificOutput'];
    return [stringIn(response, 'systemMessage'), isRecord(output) ? stringIn(output, 'additionalContext') : undefined];
  }),
  plugin_note: lines('content'),
  // Plans and lists of tasks
  plan_mode: (attachment) =>
    stringIn(attachment, 'reminderType') === 'sparse'
      ? `Plan mode still active (see full instructions earlier in conversation). Read-only except plan file (${stringIn(attachment, 'planFilePath') ?? ''}).`
      : // The workflow after it consists of program texts that no record contains.
        `Plan mode is active. The user indicated that they do not want you to execute yet -- you MUST NOT make any edits (with the exception of the plan file mentioned below), run any non-readonly tools (including changing configs or making commits), or otherwise make any changes to the system. This supercedes any other instructions you have received.\n\n## Plan File Info:\n${planFile(attachment, 'No plan file exists yet. You should create your plan at')}`,
  plan_mode_exit: (attachment) =>
    `## Exited Plan Mode\n\nYou have exited plan mode. You can now make edits, run tools, and take actions.${attachment['planExists'] === true ? ` The plan file is located at ${stringIn(attachment, 'planFilePath') ?? ''} if you need to reference it.` : ''}`,
  plan_mode_reentry: (attachment) =>
    `## Re-entering Plan Mode\n\nYou are returning to plan mode after having previously exited it. A plan file exists at ${stringIn(attachment, 'planFilePath') ?? ''} from your previous planning session.`,
  plan_file_reference: (attachment) =>
    `A plan file exists from plan mode at: ${stringIn(attachment, 'planFilePath') ?? ''}\n\nPlan contents:\n\n${stringIn(attachment, 'planContent') ?? ''}`,
  todo_reminder: (attachment) =>
    tasks(
      "The TodoWrite tool hasn't been used recently.",
      'Here are the existing contents of your todo list:',
      recordsIn(attachment, 'content').map(
        (item, index) => `${index + 1}. [${stringIn(item, 'status') ?? ''}] ${stringIn(item, 'content') ?? ''}`,
      ),
    ),
  task_reminder: (attachment) =>
    tasks(
      "The task tools haven't been used recently.",
      'Here are the existing tasks:',
      recordsIn(attachment, 'content').map(
        (item) => `#${String(item['id'])}. [${stringIn(item, 'status') ?? ''}] ${stringIn(item, 'subject') ?? ''}`,
      ),
    ),
  task_status: joined(
    (attachment) => [
      `Task ${stringIn(attachment, 'taskId') ?? ''}`,
      `(status: ${stringIn(attachment, 'status') ?? ''})`,
      `(description: ${stringIn(attachment, 'description') ?? ''})`,
      noted(attachment, 'deltaSummary', (text) => `Delta: ${text}`),
      noted(attachment, 'outputFilePath', (path) => `Read the output file to retrieve the result: ${path}`),
    ],
    ' ',
  ),
  // Figures, dates and modes
  total_tokens_reminder: field('text'),
  output_limit_note: field('text'),
  silent_turn_reminder: field('text'),
  elapsed_time_reminder: field('text'),
  batching_reminder: field('text'),
  secondary_reminder: field('text'),
  token_usage: ({ used, total, remaining }) =>
    `Token usage: ${String(used)}/${String(total)}; ${String(remaining)} remaining`,
  budget_usd: ({ used, total, remaining }) =>
    `USD budget: $${String(used)}/$${String(total)}; $${String(remaining)} remaining`,
  output_token_usage: ({ turn, session }) => `Output tokens — turn: ${String(turn)} · session: ${String(session)}`,
  date: (attachment) => noted(attachment, 'date', (date) => `Today's date is ${date}.`),
  date_change: (attachment) =>
    noted(attachment, 'newDate', (date) => `The date has changed. Today's date is now ${date}.`),
  auto_mode: () =>
    '## Auto Mode Active\n\nBias toward working without stopping for clarifying questions — when you would normally pause to check, make the reasonable call and keep going.',
  auto_mode_exit: () => '## Exited Auto Mode\n\nYou have exited auto mode.',
  ultra_effort_enter: ({ reminderType }) =>
    reminderType === 'full'
      ? 'Ultracode is on: optimize for the most exhaustive, correct answer — not the fastest or cheapest.'
      : 'Ultracode is still on.',
  ultra_effort_exit: () => "Ultracode is off — the Workflow tool's standard opt-in rule applies again.",
  ultrathink_effort: () => 'The user included the keyword "ultrathink", requesting deeper reasoning on this turn.',
  workflow_keyword_request: () =>
    'The user included the keyword "ultracode", opting this turn into multi-agent orchestration.',
  workflow_size_guideline_change: ONLY_RENDERED,
  proactivity: ONLY_RENDERED,
  first_week: ONLY_RENDERED,
  thread_state: ONLY_RENDERED,
  model: field('text'),
  environment: ONLY_RENDERED,
  session_context: ONLY_RENDERED,
  context_sections: joined((attachment) =>
    recordsIn(attachment, 'sections').map(
      (section) => `# ${stringIn(section, 'name') ?? ''}\n${stringIn(section, 'text') ?? ''}`,
    ),
  ),
  remote_session_change: ONLY_RENDERED,
  advisor_tool: ONLY_RENDERED,
  bash_output_audience_note: ONLY_RENDERED,
  unknown_command_fallback: ONLY_RENDERED,
  prefix_delta: field('text'),
  dir_sync_notice: field('content'),
  artifact_opening_prefetch: field('content'),
  fork_briefing: field('text'),
  widget_context_hint: ONLY_RENDERED,
  inlined_image_paths: (attachment) => headed('The attached images are also saved at:', textsIn(attachment, 'paths')),
  // Other agents
  agent_mention: (attachment) =>
    noted(attachment, 'agentType', (agent) => `The user has expressed a desire to invoke the agent "${agent}".`),
  skill_mention: (attachment) =>
    noted(attachment, 'skillName', (skill) => `The user's message contains /${skill}, which is the name of a skill.`),
  peer_mention: ONLY_RENDERED,
  poll_events: lines('envelopes'),
  teammate_mailbox: joined(
    (attachment) => recordsIn(attachment, 'messages').map((message) => stringIn(message, 'text')),
    '\n\n',
  ),
  team_context: ONLY_RENDERED,
  coordinator_context: field('content'),
  // Not sent
  advisor_stripped: NOT_SENT,
  already_read_file: NOT_SENT,
  async_hook_response_batch: NOT_SENT,
  attention_budget: NOT_SENT,
  batching_reminder_sent: NOT_SENT,
  command_permissions: NOT_SENT,
  context_efficiency: NOT_SENT,
  credential_org: NOT_SENT,
  deferred_tools_record: NOT_SENT,
  edited_image_file: NOT_SENT,
  goal_status: NOT_SENT,
  goals: NOT_SENT,
  hook_cancelled: NOT_SENT,
  hook_deferred_tool: NOT_SENT,
  hook_error_during_execution: NOT_SENT,
  hook_non_blocking_error: NOT_SENT,
  hook_permission_decision: NOT_SENT,
  hook_system_message: NOT_SENT,
  max_turns_reached: NOT_SENT,
  progress_reminder_sent: NOT_SENT,
  projects_thread_ask: NOT_SENT,
  prompt_as_file: NOT_SENT,
  prompt_render_point: NOT_SENT,
  prompt_snapshot: NOT_SENT,
  secondary_reminder_sent: NOT_SENT,
  session_cron_carry: NOT_SENT,
  structured_output: NOT_SENT,
  teammate_shutdown_batch: NOT_SENT,
  thinking_drop: NOT_SENT,
  thinking_stripped: NOT_SENT,
  tool_host_result_lines: NOT_SENT,
  tool_offer_record: NOT_SENT,
  tool_results_cut: NOT_SENT,
  whole_texts_withdrawn: NOT_SENT,
  withheld_memory: NOT_SENT,
};

/**
 * Sent again by a session whose transcript lacks it (seen in 2.1.332 on resuming an edited
 * session).
 */
const RENEWED: ReadonlySet<string> = new Set([
  'advisor_tool',
  'agent_listing_delta',
  'context_sections',
  'coordinator_context',
  'date',
  'deferred_tools_delta',
  'environment',
  'instructions',
  'language',
  'mcp_dropped_tools_delta',
  'mcp_instructions_delta',
  'model',
  'output_style_instructions',
  'remote_session_change',
  'sandbox_instructions',
  'session_context',
  'skill_listing',
  'total_tokens_reminder',
]);

/** Hooks whose plain output is sent (`i9t`); others' output is only shown to the person. */
const HOOKS_WITH_OUTPUT: readonly unknown[] = ['SessionStart', 'UserPromptSubmit', 'UserPromptExpansion'];

/** @param record a record of the type `attachment` */
export function attachmentIn(record: Fields): Attachment | undefined {
  const attachment = record['attachment'];
  if (!isRecord(attachment)) return undefined;
  const name = stringIn(attachment, 'type') ?? '';
  const rendered = readRendered(record['rendered']);
  const role = record['renderedRole'];
  const isRecorded = role === 'user' || role === 'system';
  return {
    name,
    isUnrendered: rendered === undefined && !isRecorded,
    sending: toSending(attachment, name, rendered, isRecorded ? role : getRole(attachment, name)),
  };
}

/**
 * Kinds sent in the user's role if the record names none (`QZo`); all others are sent in the
 * system's.
 */
const USERS: ReadonlySet<string> = new Set([
  'account_memory_recall',
  'artifact_opening_prefetch',
  'context_sections',
  'coordinator_context',
  'cowork_memory_context',
  'dir_sync_notice',
  'fork_briefing',
  'goals',
  'instructions',
  'poll_events',
  'remote_session_change',
  'session_context',
  'unknown_command_fallback',
  'widget_context_hint',
]);

function getRole(attachment: Fields, name: string): 'user' | 'system' {
  const isUsers =
    USERS.has(name) ||
    (name === 'plugin_note' && attachment['sentAs'] !== 'system') ||
    (name === 'at_mention_reference' && attachment['unread'] === 'in_ranges') ||
    (name === 'critical_system_reminder' && attachment['namesAnUpload'] === true) ||
    (name === 'queued_command' && attachment['carriedByCompaction'] === true) ||
    (name === 'invoked_skills' && recordsIn(attachment, 'skills').some((skill) => skill['mcpSkill'] !== undefined));
  return isUsers ? 'user' : 'system';
}

function toSending(
  attachment: Fields,
  name: string,
  rendered: readonly Block[] | undefined,
  role: 'user' | 'system',
): Sending {
  if (name === 'queued_command') return toQueuedPrompt(attachment, rendered, role);
  const isRenewed = RENEWED.has(name);
  if (rendered) return { kind: 'agent', content: rendered, role, isRenewed };
  const row = Object.hasOwn(ROWS, name) ? ROWS[name] : undefined;
  if (row === undefined) return { kind: 'unknown' };
  if (row === NOT_SENT || isSilentHook(attachment, name)) return { kind: 'not-sent' };
  const words = row(attachment);
  if (words === undefined) return canBeEmpty(name) ? { kind: 'not-sent' } : { kind: 'words-missing' };
  const content = (typeof words === 'string' ? [words] : words).map((part): Block =>
    typeof part === 'string' ? { type: 'text', text: reminder(part) } : part,
  );
  // The system role accepts only text.
  return { kind: 'agent', content, role: content.every(isText) ? role : 'user', isRenewed };
}

/** Listings of changes and silent hooks: if there are no words, nothing was sent. */
const canBeEmpty = (name: string): boolean => /_delta$|^hook_|^async_hook_/.test(name) || name === 'skill_listing';

const isSilentHook = (attachment: Fields, name: string): boolean =>
  name === 'hook_success' && !HOOKS_WITH_OUTPUT.includes(attachment['hookEvent']);

/**
 * A prompt that waited for the next request of a running turn. It is a person's unless it names
 * another origin. Claude Code wraps a person's words in two sentences; we keep only the words, as
 * if they had been typed a moment later. The first record of a batch contains all of it.
 */
function toQueuedPrompt(attachment: Fields, rendered: readonly Block[] | undefined, role: 'user' | 'system'): Sending {
  if (attachment['renderedByBatchHead']) return { kind: 'not-sent' };
  const batch = textsIn(attachment, 'batchedRelayPrompts').join('\n\n');
  const content = batch === '' ? readBlocks(attachment['prompt']) : [textBlock(batch)];
  if (isPersons(attachment)) return content.length > 0 ? { kind: 'person', content } : { kind: 'words-missing' };
  const own = rendered ?? content;
  return own.length > 0 ? { kind: 'agent', content: own, role, isRenewed: false } : { kind: 'words-missing' };
}

function isPersons(attachment: Fields): boolean {
  const { origin } = attachment;
  const isHuman = !isRecord(origin) || origin['kind'] === 'human' || origin['kind'] === 'voice-call';
  return isHuman && attachment['isMeta'] !== true && attachment['commandMode'] !== 'task-notification';
}

/** The text that the record says was sent. */
function readRendered(rendered: unknown): readonly Block[] | undefined {
  if (!Array.isArray(rendered)) return undefined;
  const content = rendered.flatMap((message: unknown) => (isRecord(message) ? readBlocks(message['content']) : []));
  return content.length > 0 ? content : undefined;
}

const BLOCKS: readonly unknown[] = ['text', 'image', 'document'];

function readBlocks(content: unknown): readonly Block[] {
  if (typeof content === 'string') return content.trim() === '' ? [] : [textBlock(content)];
  if (!Array.isArray(content)) return [];
  return content.filter(
    (block): block is Block =>
      isRecord(block) &&
      BLOCKS.includes(block['type']) &&
      (block['type'] !== 'text' || (typeof block['text'] === 'string' && block['text'].trim() !== '')),
  );
}

const textBlock = (text: string): Block => ({ type: 'text', text });

const reminder = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;

const nonEmpty = (text: string | undefined): string | undefined => (text?.trim() ? text : undefined);

const textsIn = (from: Fields, name: string): readonly string[] => {
  const list = from[name];
  if (typeof list === 'string') return [list];
  return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];
};

const recordsIn = (from: Fields, name: string): readonly Fields[] => {
  const list = from[name];
  return Array.isArray(list) ? list.filter(isRecord) : [];
};

const headed = (heading: string, list: readonly string[], between = '\n'): string | undefined =>
  list.length === 0 ? undefined : `${heading}\n${list.join(between)}`;

const dashed = (text: string): string => `- ${text}`;

const listed = (list: readonly string[]): string => list.map(dashed).join('\n');

const tasks = (advice: string, heading: string, list: readonly string[]): string =>
  [advice, headed(`${heading}\n`, list)].filter((part) => part !== undefined).join('\n\n');

const hookIn = (attachment: Fields): string => stringIn(attachment, 'hookName') ?? '';

function selectedLines(attachment: Fields, where: string): string {
  const first = attachment['lineStart'];
  const range = typeof first === 'number' ? `the lines ${first} to ${String(attachment['lineEnd'])}` : 'lines';
  return `The user selected ${range} ${where}:\n${stringIn(attachment, 'content') ?? ''}\n\nThis may or may not be related to the current task.`;
}

const called = (tool: string, input: Fields): string =>
  `Called the ${tool} tool with the following input: ${JSON.stringify(input)}`;

const result = (tool: string, text: string): string => `Result of calling the ${tool} tool:\n${text}`;

/** A file named with @, as if the Read tool had been called. */
function fileWords(attachment: Fields): readonly (string | Block)[] | undefined {
  const { content } = attachment;
  const file = isRecord(content) ? content['file'] : undefined;
  if (!isRecord(content) || !isRecord(file)) return undefined;
  const call = called('Read', { file_path: stringIn(attachment, 'filename') ?? '' });
  switch (content['type']) {
    case 'text': {
      const first = typeof file['startLine'] === 'number' ? file['startLine'] : 1;
      const numbered = (stringIn(file, 'content') ?? '').split('\n').map((line, at) => `${first + at}\t${line}`);
      return [call, result('Read', numbered.join('\n'))];
    }
    case 'notebook':
      return [
        call,
        result(
          'Read',
          recordsIn(file, 'cells')
            .map((cell) => cellText(cell['source']))
            .join('\n\n'),
        ),
      ];
    case 'image': {
      const data = stringIn(file, 'base64');
      const source = { type: 'base64', media_type: stringIn(file, 'type') ?? 'image/png', data };
      return data === undefined ? [call] : [call, { type: 'image', source }];
    }
    default:
      return [call];
  }
}

const cellText = (source: unknown): string => (Array.isArray(source) ? source.join('') : asText(source));

function resourceWords({ server, uri, content }: Fields): string | undefined {
  if (!isRecord(content)) return undefined;
  const texts = recordsIn(content, 'contents').flatMap((part) => stringIn(part, 'text') ?? []);
  return texts.length === 0
    ? `<mcp-resource server="${String(server)}" uri="${String(uri)}">(No content)</mcp-resource>`
    : `Full contents of resource:\n${texts.join('\n')}`;
}

function diagnosticsWords(attachment: Fields): string | undefined {
  const files = recordsIn(attachment, 'files').map((file) => {
    const found = recordsIn(file, 'diagnostics').map(
      (one) => `  ${lineIn(one['range'])}${stringIn(one, 'message') ?? ''}`,
    );
    return `${(stringIn(file, 'uri') ?? '').split('/').pop() ?? ''}:\n${found.join('\n')}`;
  });
  return files.length === 0
    ? undefined
    : `<new-diagnostics>The following new diagnostic issues were detected:\n\n${files.join('\n\n')}</new-diagnostics>`;
}

function lineIn(range: unknown): string {
  const start = isRecord(range) ? range['start'] : undefined;
  const line = isRecord(start) ? start['line'] : undefined;
  const character = isRecord(start) ? start['character'] : undefined;
  return typeof line === 'number' && typeof character === 'number' ? `[Line ${line + 1}:${character + 1}] ` : '';
}
