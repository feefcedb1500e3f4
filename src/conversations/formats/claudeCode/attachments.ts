/**
 * Versions after 2.1.233 store attachments' text as sent (`rendered`); the table below is for older
 * records. Source unless a row names another: the renderers in npm `@anthropic-ai/claude-code`
 * 2.1.332 (`i6t`), checked against recorded requests in attachments.test.ts.
 */
import { isRecord, isText } from '../../../core/messages/blocks';
import type { Block } from '../../../core/messages/types';
import { type Fields, asText, readString } from '../../text/values';

export type AttachmentUse =
  | {
      readonly kind: 'agent';
      readonly content: readonly Block[];
      readonly role: 'user' | 'system';
      /** Claude Code sends the text again when it resumes a session without it. */
      readonly isRenewed: boolean;
    }
  /** Words that the user typed while Claude Code worked. */
  | { readonly kind: 'person'; readonly content: readonly Block[] }
  | { readonly kind: 'not-sent' }
  /** Claude Code sends text that the record does not contain. */
  | { readonly kind: 'words-missing' }
  | { readonly kind: 'unknown' };

export interface Attachment {
  readonly name: string;
  readonly sending: AttachmentUse;
  /** True if our table produced text and role, which only newer versions store. */
  readonly isUnrendered: boolean;
}

type AttachmentRenderer = (attachment: Fields) => string | readonly (string | Block)[] | undefined;

const renderField =
  (name: string): AttachmentRenderer =>
  (attachment) =>
    omitIfBlank(readString(attachment, name));

const renderLines = (name: string): AttachmentRenderer => joinParts((attachment) => listTexts(attachment, name));

const joinParts =
  (parts: (attachment: Fields) => readonly (string | undefined)[], between = '\n'): AttachmentRenderer =>
  (attachment) =>
    omitIfBlank(
      parts(attachment)
        .filter((part) => part !== undefined && part !== '')
        .join(between),
    );

/** Newer versions store this text, or no record contains its data. */
const NOT_RECONSTRUCTED: AttachmentRenderer = () => undefined;

const UNSENT = 'not-sent';

const renderNote = (attachment: Fields, name: string, words: (text: string) => string): string | undefined => {
  const text = omitIfBlank(readString(attachment, name));
  return text === undefined ? undefined : words(text);
};

const planFile = (attachment: Fields, none: string): string => {
  const path = readString(attachment, 'planFilePath') ?? '';
  return attachment['planExists'] === true ? `A plan file already exists at ${path}.` : `${none} ${path}`;
};

const RENDERERS: Readonly<Record<string, AttachmentRenderer | typeof UNSENT>> = {
  // Files and folders
  file: renderFile,
  directory: (attachment) => {
    const path = readString(attachment, 'path') ?? '';
    return [
      formatCall('Bash', { command: `ls ${path}`, description: `Lists files in ${path}` }),
      formatResult('Bash', readString(attachment, 'content') ?? ''),
    ];
  },
  edited_text_file: (attachment) => {
    const note = `Note: ${readString(attachment, 'filename') ?? ''} changed on disk since you last read it.`;
    const snippet = readString(attachment, 'snippet') ?? '';
    return snippet === ''
      ? `${note} The changes are not shown here.`
      : `${note} Here are the relevant changes (shown with line numbers):\n${snippet}`;
  },
  compact_file_reference: (attachment) =>
    renderNote(
      attachment,
      'filename',
      (name) =>
        `Note: ${name} was read before the last conversation was summarized, but the contents are too large to include.`,
    ),
  pdf_reference: (attachment) => renderNote(attachment, 'filename', (name) => `PDF file: ${name}.`),
  at_mention_reference: joinParts((attachment) => [
    `The user @-mentioned ${listTexts(attachment, 'mentions').join(', ')}`,
    'File contents are not attached automatically in this session.',
  ]),
  selected_lines_in_ide: (attachment) =>
    renderSelectedLines(attachment, `from ${readString(attachment, 'filename') ?? ''}`),
  selected_lines_in_diff: (attachment) => renderSelectedLines(attachment, 'from the diff view'),
  opened_file_in_ide: (attachment) =>
    renderNote(
      attachment,
      'filename',
      (name) => `The user opened the file ${name} in the IDE. This may or may not be related to the current task.`,
    ),
  read_truncation_notice: renderField('banner'),
  mcp_resource: renderResource,
  diagnostics: renderDiagnostics,
  // Memory and instructions
  nested_memory: ({ content }) =>
    isRecord(content)
      ? `Contents of ${readString(content, 'path') ?? ''}:\n\n${readString(content, 'content') ?? ''}`
      : undefined,
  relevant_memories: joinParts(
    (attachment) =>
      listRecords(attachment, 'memories').map(
        (memory) =>
          `${readString(memory, 'header') ?? readString(memory, 'path') ?? ''}\n\n${readString(memory, 'content') ?? ''}`,
      ),
    '\n\n',
  ),
  account_memory_recall: renderField('content'),
  cowork_memory_context: renderField('content'),
  memory_update: renderField('summary'),
  instructions: NOT_RECONSTRUCTED,
  output_style: (attachment) =>
    renderNote(
      attachment,
      'style',
      (style) => `${style} output style is active. Remember to follow the specific guidelines for this style.`,
    ),
  output_style_instructions: NOT_RECONSTRUCTED,
  language: NOT_RECONSTRUCTED,
  critical_system_reminder: renderField('content'),
  sandbox_instructions: renderField('content'),
  // Listings
  skill_listing: (attachment) =>
    renderNote(
      attachment,
      'content',
      (list) => `The following skills are available for use with the Skill tool:\n\n${list}`,
    ),
  dynamic_skill: (attachment) =>
    `New skills discovered in ${readString(attachment, 'skillDir') ?? ''}, now available via the Skill tool:\n${formatList(listTexts(attachment, 'skillNames'))}`,
  invoked_skills: joinParts(
    (attachment) => [
      'The following skills were invoked in this session.',
      ...listRecords(attachment, 'skills').map(
        (skill) =>
          `### Skill: ${readString(skill, 'name') ?? ''}\nPath: ${readString(skill, 'path') ?? ''}\n\n${readString(skill, 'content') ?? ''}`,
      ),
    ],
    '\n\n',
  ),
  agent_listing_delta: joinParts(
    (attachment) => [
      addHeading('Available agent types for the Agent tool:', listTexts(attachment, 'addedLines')),
      addHeading(
        'The following agent types are no longer available:',
        listTexts(attachment, 'removedTypes').map(addDash),
      ),
    ],
    '\n\n',
  ),
  deferred_tools_delta: joinParts(
    (attachment) => [
      addHeading(
        'The following deferred tools are now available via ToolSearch. Their schemas are NOT loaded — calling them directly will fail with InputValidationError. Use ToolSearch with query "select:<name>[,<name>...]" to load tool schemas before calling them:',
        listTexts(attachment, 'addedLines'),
      ),
      addHeading('The following deferred tools are available again:', listTexts(attachment, 'readdedNames')),
      addHeading('The following deferred tools are no longer available:', listTexts(attachment, 'removedNames')),
    ],
    '\n\n',
  ),
  mcp_instructions_delta: joinParts(
    (attachment) => [
      addHeading(
        '# MCP Server Instructions\n\nThe following MCP servers have provided instructions for how to use their tools and resources:\n',
        listTexts(attachment, 'addedBlocks'),
        '\n\n',
      ),
      addHeading(
        'The following MCP servers have disconnected. Their instructions above no longer apply:',
        listTexts(attachment, 'removedNames'),
      ),
    ],
    '\n\n',
  ),
  mcp_dropped_tools_delta: (attachment) =>
    addHeading('# Unavailable MCP Tools', listTexts(attachment, 'addedEntries').map(addDash)),
  tool_search_usage_reminder: (attachment) =>
    `Some available tools' schemas are not loaded in this conversation yet: ${listTexts(attachment, 'undiscoveredToolNames').join(', ')}.`,
  tool_hosts_correction: renderLines('lines'),
  tool_hosts_notice: renderLines('lines'),
  claude_app_notice: renderLines('lines'),
  agent_ask_notice: renderLines('lines'),
  linked_plugin_tools_note: renderField('text'),
  repl_mcp_servers: renderField('content'),
  repl_mcp_needs_auth: NOT_RECONSTRUCTED,
  // Hooks
  hook_additional_context: joinParts((attachment) => {
    const texts = listTexts(attachment, 'content');
    return texts.length === 0 ? [] : [`${readHookName(attachment)} hook additional context: ${texts.join('\n')}`];
  }),
  hook_success: (attachment) =>
    renderNote(attachment, 'content', (text) => `${readHookName(attachment)} hook success: ${text}`),
  hook_blocking_error: (attachment) => {
    const error = attachment['blockingError'];
    return isRecord(error)
      ? `${readHookName(attachment)} hook blocking error from command: "${readString(error, 'command') ?? ''}": ${readString(error, 'blockingError') ?? ''}`
      : undefined;
  },
  hook_stopped_continuation: (attachment) =>
    renderNote(attachment, 'message', (text) => `${readHookName(attachment)} hook stopped continuation: ${text}`),
  async_hook_response: joinParts(({ response }) => {
    if (!isRecord(response)) return [];
    const output = response['hookSpecificOutput'];
    return [
      readString(response, 'systemMessage'),
      isRecord(output) ? readString(output, 'additionalContext') : undefined,
    ];
  }),
  plugin_note: renderLines('content'),
  // Plans and lists of tasks
  plan_mode: (attachment) =>
    readString(attachment, 'reminderType') === 'sparse'
      ? `Plan mode still active (see full instructions earlier in conversation). Read-only except plan file (${readString(attachment, 'planFilePath') ?? ''}).`
      : // The workflow after this text is not in any record.
        `Plan mode is active. The user indicated that they do not want you to execute yet -- you MUST NOT make any edits (with the exception of the plan file mentioned below), run any non-readonly tools (including changing configs or making commits), or otherwise make any changes to the system. This supercedes any other instructions you have received.\n\n## Plan File Info:\n${planFile(attachment, 'No plan file exists yet. You should create your plan at')}`,
  plan_mode_exit: (attachment) =>
    `## Exited Plan Mode\n\nYou have exited plan mode. You can now make edits, run tools, and take actions.${attachment['planExists'] === true ? ` The plan file is located at ${readString(attachment, 'planFilePath') ?? ''} if you need to reference it.` : ''}`,
  plan_mode_reentry: (attachment) =>
    `## Re-entering Plan Mode\n\nYou are returning to plan mode after having previously exited it. A plan file exists at ${readString(attachment, 'planFilePath') ?? ''} from your previous planning session.`,
  plan_file_reference: (attachment) =>
    `A plan file exists from plan mode at: ${readString(attachment, 'planFilePath') ?? ''}\n\nPlan contents:\n\n${readString(attachment, 'planContent') ?? ''}`,
  todo_reminder: (attachment) =>
    formatTasks(
      "The TodoWrite tool hasn't been used recently.",
      'Here are the existing contents of your todo list:',
      listRecords(attachment, 'content').map(
        (item, index) => `${index + 1}. [${readString(item, 'status') ?? ''}] ${readString(item, 'content') ?? ''}`,
      ),
    ),
  task_reminder: (attachment) =>
    formatTasks(
      "The task tools haven't been used recently.",
      'Here are the existing tasks:',
      listRecords(attachment, 'content').map(
        (item) => `#${String(item['id'])}. [${readString(item, 'status') ?? ''}] ${readString(item, 'subject') ?? ''}`,
      ),
    ),
  task_status: joinParts(
    (attachment) => [
      `Task ${readString(attachment, 'taskId') ?? ''}`,
      `(status: ${readString(attachment, 'status') ?? ''})`,
      `(description: ${readString(attachment, 'description') ?? ''})`,
      renderNote(attachment, 'deltaSummary', (text) => `Delta: ${text}`),
      renderNote(attachment, 'outputFilePath', (path) => `Read the output file to retrieve the result: ${path}`),
    ],
    ' ',
  ),
  // Figures, dates and modes
  total_tokens_reminder: renderField('text'),
  output_limit_note: renderField('text'),
  silent_turn_reminder: renderField('text'),
  elapsed_time_reminder: renderField('text'),
  batching_reminder: renderField('text'),
  secondary_reminder: renderField('text'),
  token_usage: ({ used, total, remaining }) =>
    `Token usage: ${String(used)}/${String(total)}; ${String(remaining)} remaining`,
  budget_usd: ({ used, total, remaining }) =>
    `USD budget: $${String(used)}/$${String(total)}; $${String(remaining)} remaining`,
  output_token_usage: ({ turn, session }) => `Output tokens — turn: ${String(turn)} · session: ${String(session)}`,
  date: (attachment) => renderNote(attachment, 'date', (date) => `Today's date is ${date}.`),
  date_change: (attachment) =>
    renderNote(attachment, 'newDate', (date) => `The date has changed. Today's date is now ${date}.`),
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
  workflow_size_guideline_change: NOT_RECONSTRUCTED,
  proactivity: NOT_RECONSTRUCTED,
  first_week: NOT_RECONSTRUCTED,
  thread_state: NOT_RECONSTRUCTED,
  model: renderField('text'),
  environment: NOT_RECONSTRUCTED,
  session_context: NOT_RECONSTRUCTED,
  context_sections: joinParts((attachment) =>
    listRecords(attachment, 'sections').map(
      (section) => `# ${readString(section, 'name') ?? ''}\n${readString(section, 'text') ?? ''}`,
    ),
  ),
  remote_session_change: NOT_RECONSTRUCTED,
  advisor_tool: NOT_RECONSTRUCTED,
  bash_output_audience_note: NOT_RECONSTRUCTED,
  unknown_command_fallback: NOT_RECONSTRUCTED,
  prefix_delta: renderField('text'),
  dir_sync_notice: renderField('content'),
  artifact_opening_prefetch: renderField('content'),
  fork_briefing: renderField('text'),
  widget_context_hint: NOT_RECONSTRUCTED,
  inlined_image_paths: (attachment) =>
    addHeading('The attached images are also saved at:', listTexts(attachment, 'paths')),
  // Other agents
  agent_mention: (attachment) =>
    renderNote(attachment, 'agentType', (agent) => `The user has expressed a desire to invoke the agent "${agent}".`),
  skill_mention: (attachment) =>
    renderNote(
      attachment,
      'skillName',
      (skill) => `The user's message contains /${skill}, which is the name of a skill.`,
    ),
  peer_mention: NOT_RECONSTRUCTED,
  poll_events: renderLines('envelopes'),
  teammate_mailbox: joinParts(
    (attachment) => listRecords(attachment, 'messages').map((message) => readString(message, 'text')),
    '\n\n',
  ),
  team_context: NOT_RECONSTRUCTED,
  coordinator_context: renderField('content'),
  // Not sent
  advisor_stripped: UNSENT,
  already_read_file: UNSENT,
  async_hook_response_batch: UNSENT,
  attention_budget: UNSENT,
  batching_reminder_sent: UNSENT,
  command_permissions: UNSENT,
  context_efficiency: UNSENT,
  credential_org: UNSENT,
  deferred_tools_record: UNSENT,
  edited_image_file: UNSENT,
  goal_status: UNSENT,
  goals: UNSENT,
  hook_cancelled: UNSENT,
  hook_deferred_tool: UNSENT,
  hook_error_during_execution: UNSENT,
  hook_non_blocking_error: UNSENT,
  hook_permission_decision: UNSENT,
  hook_system_message: UNSENT,
  max_turns_reached: UNSENT,
  progress_reminder_sent: UNSENT,
  projects_thread_ask: UNSENT,
  prompt_as_file: UNSENT,
  prompt_render_point: UNSENT,
  prompt_snapshot: UNSENT,
  secondary_reminder_sent: UNSENT,
  session_cron_carry: UNSENT,
  structured_output: UNSENT,
  teammate_shutdown_batch: UNSENT,
  thinking_drop: UNSENT,
  thinking_stripped: UNSENT,
  tool_host_result_lines: UNSENT,
  tool_offer_record: UNSENT,
  tool_results_cut: UNSENT,
  whole_texts_withdrawn: UNSENT,
  withheld_memory: UNSENT,
};

/** Claude Code 2.1.332 sends these again when it resumes a session that lacks them. */
const RENEWED_KINDS: ReadonlySet<string> = new Set([
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

/** Claude Code sends the plain output of these hooks (`i9t`); other output is only displayed. */
const HOOKS_WITH_SENT_OUTPUT: readonly unknown[] = ['SessionStart', 'UserPromptSubmit', 'UserPromptExpansion'];

export function parseAttachment(record: Fields): Attachment | undefined {
  const attachment = record['attachment'];
  if (!isRecord(attachment)) return undefined;
  const name = readString(attachment, 'type') ?? '';
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
 * Claude Code sends these kinds in the user's role if the record names none (`QZo`), and all others
 * in the system's.
 */
const USER_KINDS: ReadonlySet<string> = new Set([
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
    USER_KINDS.has(name) ||
    (name === 'plugin_note' && attachment['sentAs'] !== 'system') ||
    (name === 'at_mention_reference' && attachment['unread'] === 'in_ranges') ||
    (name === 'critical_system_reminder' && attachment['namesAnUpload'] === true) ||
    (name === 'queued_command' && attachment['carriedByCompaction'] === true) ||
    (name === 'invoked_skills' && listRecords(attachment, 'skills').some((skill) => skill['mcpSkill'] !== undefined));
  return isUsers ? 'user' : 'system';
}

function toSending(
  attachment: Fields,
  name: string,
  rendered: readonly Block[] | undefined,
  role: 'user' | 'system',
): AttachmentUse {
  if (name === 'queued_command') return toQueuedPrompt(attachment, rendered, role);
  const isRenewed = RENEWED_KINDS.has(name);
  if (rendered) return { kind: 'agent', content: rendered, role, isRenewed };
  const row = Object.hasOwn(RENDERERS, name) ? RENDERERS[name] : undefined;
  if (row === undefined) return { kind: 'unknown' };
  if (row === UNSENT || isSilentHook(attachment, name)) return { kind: 'not-sent' };
  const words = row(attachment);
  if (words === undefined) return canBeEmpty(name) ? { kind: 'not-sent' } : { kind: 'words-missing' };
  const content = (typeof words === 'string' ? [words] : words).map((part): Block =>
    typeof part === 'string' ? { type: 'text', text: wrapInReminder(part) } : part,
  );
  // The system role accepts only text.
  return { kind: 'agent', content, role: content.every(isText) ? role : 'user', isRenewed };
}

/** Nothing was sent for a listing without changes or a silent hook. */
const canBeEmpty = (name: string): boolean => /_delta$|^hook_|^async_hook_/.test(name) || name === 'skill_listing';

const isSilentHook = (attachment: Fields, name: string): boolean =>
  name === 'hook_success' && !HOOKS_WITH_SENT_OUTPUT.includes(attachment['hookEvent']);

/**
 * A prompt typed during a running turn is the user's unless it names another origin. Claude Code
 * wraps it in two sentences, which we drop. The first record of a batch contains all of it.
 */
function toQueuedPrompt(
  attachment: Fields,
  rendered: readonly Block[] | undefined,
  role: 'user' | 'system',
): AttachmentUse {
  if (attachment['renderedByBatchHead']) return { kind: 'not-sent' };
  const batch = listTexts(attachment, 'batchedRelayPrompts').join('\n\n');
  const content = batch === '' ? readBlocks(attachment['prompt']) : [makeTextBlock(batch)];
  if (isPersons(attachment)) return content.length > 0 ? { kind: 'person', content } : { kind: 'words-missing' };
  const own = rendered ?? content;
  return own.length > 0 ? { kind: 'agent', content: own, role, isRenewed: false } : { kind: 'words-missing' };
}

function isPersons(attachment: Fields): boolean {
  const { origin } = attachment;
  const isHuman = !isRecord(origin) || origin['kind'] === 'human' || origin['kind'] === 'voice-call';
  return isHuman && attachment['isMeta'] !== true && attachment['commandMode'] !== 'task-notification';
}

function readRendered(rendered: unknown): readonly Block[] | undefined {
  if (!Array.isArray(rendered)) return undefined;
  const content = rendered.flatMap((message: unknown) => (isRecord(message) ? readBlocks(message['content']) : []));
  return content.length > 0 ? content : undefined;
}

const SENT_BLOCK_TYPES: readonly unknown[] = ['text', 'image', 'document'];

function readBlocks(content: unknown): readonly Block[] {
  if (typeof content === 'string') return content.trim() === '' ? [] : [makeTextBlock(content)];
  if (!Array.isArray(content)) return [];
  return content.filter(
    (block): block is Block =>
      isRecord(block) &&
      SENT_BLOCK_TYPES.includes(block['type']) &&
      (block['type'] !== 'text' || (typeof block['text'] === 'string' && block['text'].trim() !== '')),
  );
}

const makeTextBlock = (text: string): Block => ({ type: 'text', text });

const wrapInReminder = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;

const omitIfBlank = (text: string | undefined): string | undefined => (text?.trim() ? text : undefined);

const listTexts = (from: Fields, name: string): readonly string[] => {
  const list = from[name];
  if (typeof list === 'string') return [list];
  return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];
};

const listRecords = (from: Fields, name: string): readonly Fields[] => {
  const list = from[name];
  return Array.isArray(list) ? list.filter(isRecord) : [];
};

const addHeading = (heading: string, list: readonly string[], between = '\n'): string | undefined =>
  list.length === 0 ? undefined : `${heading}\n${list.join(between)}`;

const addDash = (text: string): string => `- ${text}`;

const formatList = (list: readonly string[]): string => list.map(addDash).join('\n');

const formatTasks = (advice: string, heading: string, list: readonly string[]): string =>
  [advice, addHeading(`${heading}\n`, list)].filter((part) => part !== undefined).join('\n\n');

const readHookName = (attachment: Fields): string => readString(attachment, 'hookName') ?? '';

function renderSelectedLines(attachment: Fields, where: string): string {
  const first = attachment['lineStart'];
  const range = typeof first === 'number' ? `the lines ${first} to ${String(attachment['lineEnd'])}` : 'lines';
  return `The user selected ${range} ${where}:\n${readString(attachment, 'content') ?? ''}\n\nThis may or may not be related to the current task.`;
}

const formatCall = (tool: string, input: Fields): string =>
  `Called the ${tool} tool with the following input: ${JSON.stringify(input)}`;

const formatResult = (tool: string, text: string): string => `Result of calling the ${tool} tool:\n${text}`;

/** A file named with @ looks like a call of the Read tool. */
function renderFile(attachment: Fields): readonly (string | Block)[] | undefined {
  const { content } = attachment;
  const file = isRecord(content) ? content['file'] : undefined;
  if (!isRecord(content) || !isRecord(file)) return undefined;
  const call = formatCall('Read', { file_path: readString(attachment, 'filename') ?? '' });
  switch (content['type']) {
    case 'text': {
      const first = typeof file['startLine'] === 'number' ? file['startLine'] : 1;
      const numbered = (readString(file, 'content') ?? '').split('\n').map((line, at) => `${first + at}\t${line}`);
      return [call, formatResult('Read', numbered.join('\n'))];
    }
    case 'notebook':
      return [
        call,
        formatResult(
          'Read',
          listRecords(file, 'cells')
            .map((cell) => renderCell(cell['source']))
            .join('\n\n'),
        ),
      ];
    case 'image': {
      const data = readString(file, 'base64');
      const source = { type: 'base64', media_type: readString(file, 'type') ?? 'image/png', data };
      return data === undefined ? [call] : [call, { type: 'image', source }];
    }
    default:
      return [call];
  }
}

const renderCell = (source: unknown): string => (Array.isArray(source) ? source.join('') : asText(source));

function renderResource({ server, uri, content }: Fields): string | undefined {
  if (!isRecord(content)) return undefined;
  const texts = listRecords(content, 'contents').flatMap((part) => readString(part, 'text') ?? []);
  return texts.length === 0
    ? `<mcp-resource server="${String(server)}" uri="${String(uri)}">(No content)</mcp-resource>`
    : `Full contents of resource:\n${texts.join('\n')}`;
}

function renderDiagnostics(attachment: Fields): string | undefined {
  const files = listRecords(attachment, 'files').map((file) => {
    const found = listRecords(file, 'diagnostics').map(
      (one) => `  ${formatLineNumber(one['range'])}${readString(one, 'message') ?? ''}`,
    );
    return `${(readString(file, 'uri') ?? '').split('/').pop() ?? ''}:\n${found.join('\n')}`;
  });
  return files.length === 0
    ? undefined
    : `<new-diagnostics>The following new diagnostic issues were detected:\n\n${files.join('\n\n')}</new-diagnostics>`;
}

function formatLineNumber(range: unknown): string {
  const start = isRecord(range) ? range['start'] : undefined;
  const line = isRecord(start) ? start['line'] : undefined;
  const character = isRecord(start) ? start['character'] : undefined;
  return typeof line === 'number' && typeof character === 'number' ? `[Line ${line + 1}:${character + 1}] ` : '';
}
