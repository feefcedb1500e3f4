/**
 * Versions after 2.1.233 store attachments' text as sent (`rendered`); the table below is for older
 * records. Source unless a row names another: npm `@anthropic-ai/claude-code` 2.1.332 (`i6t`), and
 * recorded requests (attachments.test.ts).
 */
import { isRecord, isText } from '../../../core/messages/blocks';
import type { Block } from '../../../core/messages/types';
import { type Fields, stringifyValue, readString } from '../../text/values';

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

const createFieldRenderer =
  (name: string): AttachmentRenderer =>
  (attachment) =>
    undefinedIfBlank(readString(attachment, name));

const createLinesRenderer = (name: string): AttachmentRenderer =>
  createJoiningRenderer((attachment) => readTextListField(attachment, name));

const createJoiningRenderer =
  (parts: (attachment: Fields) => readonly (string | undefined)[], separator = '\n'): AttachmentRenderer =>
  (attachment) =>
    undefinedIfBlank(
      parts(attachment)
        .filter((part) => part !== undefined && part !== '')
        .join(separator),
    );

/** For attachments whose text newer versions store, or whose data no record contains. */
const renderNothing: AttachmentRenderer = () => undefined;

const NOT_SENT = 'not-sent';

const renderTextFieldIfPresent = (
  attachment: Fields,
  name: string,
  renderText: (text: string) => string,
): string | undefined => {
  const text = undefinedIfBlank(readString(attachment, name));
  return text === undefined ? undefined : renderText(text);
};

const renderPlanFile = (attachment: Fields, none: string): string => {
  const planPath = readString(attachment, 'planFilePath') ?? '';
  return attachment['planExists'] === true ? `A plan file already exists at ${planPath}.` : `${none} ${planPath}`;
};

const RENDERER_BY_ATTACHMENT_KIND: Readonly<Record<string, AttachmentRenderer | typeof NOT_SENT>> = {
  // Files and folders
  file: renderFile,
  directory: (attachment) => {
    const folderPath = readString(attachment, 'path') ?? '';
    return [
      formatCall('Bash', { command: `ls ${folderPath}`, description: `Lists files in ${folderPath}` }),
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
    renderTextFieldIfPresent(
      attachment,
      'filename',
      (name) =>
        `Note: ${name} was read before the last conversation was summarized, but the contents are too large to include.`,
    ),
  pdf_reference: (attachment) => renderTextFieldIfPresent(attachment, 'filename', (name) => `PDF file: ${name}.`),
  at_mention_reference: createJoiningRenderer((attachment) => [
    `The user @-mentioned ${readTextListField(attachment, 'mentions').join(', ')}`,
    'File contents are not attached automatically in this session.',
  ]),
  selected_lines_in_ide: (attachment) =>
    renderSelectedLines(attachment, `from ${readString(attachment, 'filename') ?? ''}`),
  selected_lines_in_diff: (attachment) => renderSelectedLines(attachment, 'from the diff view'),
  opened_file_in_ide: (attachment) =>
    renderTextFieldIfPresent(
      attachment,
      'filename',
      (name) => `The user opened the file ${name} in the IDE. This may or may not be related to the current task.`,
    ),
  read_truncation_notice: createFieldRenderer('banner'),
  mcp_resource: renderResource,
  diagnostics: renderDiagnostics,
  // Memory and instructions
  nested_memory: ({ content }) =>
    isRecord(content)
      ? `Contents of ${readString(content, 'path') ?? ''}:\n\n${readString(content, 'content') ?? ''}`
      : undefined,
  relevant_memories: createJoiningRenderer(
    (attachment) =>
      readRecordListField(attachment, 'memories').map(
        (memory) =>
          `${readString(memory, 'header') ?? readString(memory, 'path') ?? ''}\n\n${readString(memory, 'content') ?? ''}`,
      ),
    '\n\n',
  ),
  account_memory_recall: createFieldRenderer('content'),
  cowork_memory_context: createFieldRenderer('content'),
  memory_update: createFieldRenderer('summary'),
  instructions: renderNothing,
  output_style: (attachment) =>
    renderTextFieldIfPresent(
      attachment,
      'style',
      (style) => `${style} output style is active. Remember to follow the specific guidelines for this style.`,
    ),
  output_style_instructions: renderNothing,
  language: renderNothing,
  critical_system_reminder: createFieldRenderer('content'),
  sandbox_instructions: createFieldRenderer('content'),
  // Listings
  skill_listing: (attachment) =>
    renderTextFieldIfPresent(
      attachment,
      'content',
      (list) => `The following skills are available for use with the Skill tool:\n\n${list}`,
    ),
  dynamic_skill: (attachment) =>
    `New skills discovered in ${readString(attachment, 'skillDir') ?? ''}, now available via the Skill tool:\n${formatList(readTextListField(attachment, 'skillNames'))}`,
  invoked_skills: createJoiningRenderer(
    (attachment) => [
      'The following skills were invoked in this session.',
      ...readRecordListField(attachment, 'skills').map(
        (skill) =>
          `### Skill: ${readString(skill, 'name') ?? ''}\nPath: ${readString(skill, 'path') ?? ''}\n\n${readString(skill, 'content') ?? ''}`,
      ),
    ],
    '\n\n',
  ),
  agent_listing_delta: createJoiningRenderer(
    (attachment) => [
      formatListWithHeading('Available agent types for the Agent tool:', readTextListField(attachment, 'addedLines')),
      formatListWithHeading(
        'The following agent types are no longer available:',
        readTextListField(attachment, 'removedTypes').map(addDash),
      ),
    ],
    '\n\n',
  ),
  deferred_tools_delta: createJoiningRenderer(
    (attachment) => [
      formatListWithHeading(
        'The following deferred tools are now available via ToolSearch. Their schemas are NOT loaded — calling them directly will fail with InputValidationError. Use ToolSearch with query "select:<name>[,<name>...]" to load tool schemas before calling them:',
        readTextListField(attachment, 'addedLines'),
      ),
      formatListWithHeading(
        'The following deferred tools are available again:',
        readTextListField(attachment, 'readdedNames'),
      ),
      formatListWithHeading(
        'The following deferred tools are no longer available:',
        readTextListField(attachment, 'removedNames'),
      ),
    ],
    '\n\n',
  ),
  mcp_instructions_delta: createJoiningRenderer(
    (attachment) => [
      formatListWithHeading(
        '# MCP Server Instructions\n\nThe following MCP servers have provided instructions for how to use their tools and resources:\n',
        readTextListField(attachment, 'addedBlocks'),
        '\n\n',
      ),
      formatListWithHeading(
        'The following MCP servers have disconnected. Their instructions above no longer apply:',
        readTextListField(attachment, 'removedNames'),
      ),
    ],
    '\n\n',
  ),
  mcp_dropped_tools_delta: (attachment) =>
    formatListWithHeading('# Unavailable MCP Tools', readTextListField(attachment, 'addedEntries').map(addDash)),
  tool_search_usage_reminder: (attachment) =>
    `Some available tools' schemas are not loaded in this conversation yet: ${readTextListField(attachment, 'undiscoveredToolNames').join(', ')}.`,
  tool_hosts_correction: createLinesRenderer('lines'),
  tool_hosts_notice: createLinesRenderer('lines'),
  claude_app_notice: createLinesRenderer('lines'),
  agent_ask_notice: createLinesRenderer('lines'),
  linked_plugin_tools_note: createFieldRenderer('text'),
  repl_mcp_servers: createFieldRenderer('content'),
  repl_mcp_needs_auth: renderNothing,
  // Hooks
  hook_additional_context: createJoiningRenderer((attachment) => {
    const texts = readTextListField(attachment, 'content');
    return texts.length === 0 ? [] : [`${readHookName(attachment)} hook additional context: ${texts.join('\n')}`];
  }),
  hook_success: (attachment) =>
    renderTextFieldIfPresent(attachment, 'content', (text) => `${readHookName(attachment)} hook success: ${text}`),
  hook_blocking_error: (attachment) => {
    const error = attachment['blockingError'];
    return isRecord(error)
      ? `${readHookName(attachment)} hook blocking error from command: "${readString(error, 'command') ?? ''}": ${readString(error, 'blockingError') ?? ''}`
      : undefined;
  },
  hook_stopped_continuation: (attachment) =>
    renderTextFieldIfPresent(
      attachment,
      'message',
      (text) => `${readHookName(attachment)} hook stopped continuation: ${text}`,
    ),
  async_hook_response: createJoiningRenderer(({ response }) => {
    if (!isRecord(response)) return [];
    const output = response['hookSpecificOutput'];
    return [
      readString(response, 'systemMessage'),
      isRecord(output) ? readString(output, 'additionalContext') : undefined,
    ];
  }),
  plugin_note: createLinesRenderer('content'),
  // Plans and lists of tasks
  plan_mode: (attachment) =>
    readString(attachment, 'reminderType') === 'sparse'
      ? `Plan mode still active (see full instructions earlier in conversation). Read-only except plan file (${readString(attachment, 'planFilePath') ?? ''}).`
      : // The workflow after this text is not in any record.
        `Plan mode is active. The user indicated that they do not want you to execute yet -- you MUST NOT make any edits (with the exception of the plan file mentioned below), run any non-readonly tools (including changing configs or making commits), or otherwise make any changes to the system. This supercedes any other instructions you have received.\n\n## Plan File Info:\n${renderPlanFile(attachment, 'No plan file exists yet. You should create your plan at')}`,
  plan_mode_exit: (attachment) =>
    `## Exited Plan Mode\n\nYou have exited plan mode. You can now make edits, run tools, and take actions.${attachment['planExists'] === true ? ` The plan file is located at ${readString(attachment, 'planFilePath') ?? ''} if you need to reference it.` : ''}`,
  plan_mode_reentry: (attachment) =>
    `## Re-entering Plan Mode\n\nYou are returning to plan mode after having previously exited it. A plan file exists at ${readString(attachment, 'planFilePath') ?? ''} from your previous planning session.`,
  plan_file_reference: (attachment) =>
    `A plan file exists from plan mode at: ${readString(attachment, 'planFilePath') ?? ''}\n\nPlan contents:\n\n${readString(attachment, 'planContent') ?? ''}`,
  todo_reminder: (attachment) =>
    formatTaskList(
      "The TodoWrite tool hasn't been used recently.",
      'Here are the existing contents of your todo list:',
      readRecordListField(attachment, 'content').map(
        (item, index) => `${index + 1}. [${readString(item, 'status') ?? ''}] ${readString(item, 'content') ?? ''}`,
      ),
    ),
  task_reminder: (attachment) =>
    formatTaskList(
      "The task tools haven't been used recently.",
      'Here are the existing tasks:',
      readRecordListField(attachment, 'content').map(
        (item) => `#${String(item['id'])}. [${readString(item, 'status') ?? ''}] ${readString(item, 'subject') ?? ''}`,
      ),
    ),
  task_status: createJoiningRenderer(
    (attachment) => [
      `Task ${readString(attachment, 'taskId') ?? ''}`,
      `(status: ${readString(attachment, 'status') ?? ''})`,
      `(description: ${readString(attachment, 'description') ?? ''})`,
      renderTextFieldIfPresent(attachment, 'deltaSummary', (text) => `Delta: ${text}`),
      renderTextFieldIfPresent(
        attachment,
        'outputFilePath',
        (path) => `Read the output file to retrieve the result: ${path}`,
      ),
    ],
    ' ',
  ),
  // Figures, dates and modes
  total_tokens_reminder: createFieldRenderer('text'),
  output_limit_note: createFieldRenderer('text'),
  silent_turn_reminder: createFieldRenderer('text'),
  elapsed_time_reminder: createFieldRenderer('text'),
  batching_reminder: createFieldRenderer('text'),
  secondary_reminder: createFieldRenderer('text'),
  token_usage: ({ used, total, remaining }) =>
    `Token usage: ${String(used)}/${String(total)}; ${String(remaining)} remaining`,
  budget_usd: ({ used, total, remaining }) =>
    `USD budget: $${String(used)}/$${String(total)}; $${String(remaining)} remaining`,
  output_token_usage: ({ turn, session }) => `Output tokens — turn: ${String(turn)} · session: ${String(session)}`,
  date: (attachment) => renderTextFieldIfPresent(attachment, 'date', (date) => `Today's date is ${date}.`),
  date_change: (attachment) =>
    renderTextFieldIfPresent(attachment, 'newDate', (date) => `The date has changed. Today's date is now ${date}.`),
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
  workflow_size_guideline_change: renderNothing,
  proactivity: renderNothing,
  first_week: renderNothing,
  thread_state: renderNothing,
  model: createFieldRenderer('text'),
  environment: renderNothing,
  session_context: renderNothing,
  context_sections: createJoiningRenderer((attachment) =>
    readRecordListField(attachment, 'sections').map(
      (section) => `# ${readString(section, 'name') ?? ''}\n${readString(section, 'text') ?? ''}`,
    ),
  ),
  remote_session_change: renderNothing,
  advisor_tool: renderNothing,
  bash_output_audience_note: renderNothing,
  unknown_command_fallback: renderNothing,
  prefix_delta: createFieldRenderer('text'),
  dir_sync_notice: createFieldRenderer('content'),
  artifact_opening_prefetch: createFieldRenderer('content'),
  fork_briefing: createFieldRenderer('text'),
  widget_context_hint: renderNothing,
  inlined_image_paths: (attachment) =>
    formatListWithHeading('The attached images are also saved at:', readTextListField(attachment, 'paths')),
  // Other agents
  agent_mention: (attachment) =>
    renderTextFieldIfPresent(
      attachment,
      'agentType',
      (agent) => `The user has expressed a desire to invoke the agent "${agent}".`,
    ),
  skill_mention: (attachment) =>
    renderTextFieldIfPresent(
      attachment,
      'skillName',
      (skill) => `The user's message contains /${skill}, which is the name of a skill.`,
    ),
  peer_mention: renderNothing,
  poll_events: createLinesRenderer('envelopes'),
  teammate_mailbox: createJoiningRenderer(
    (attachment) => readRecordListField(attachment, 'messages').map((message) => readString(message, 'text')),
    '\n\n',
  ),
  team_context: renderNothing,
  coordinator_context: createFieldRenderer('content'),
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

/** Claude Code 2.1.332 sends these again when it resumes a session that lacks them. */
const RENEWED_ATTACHMENT_KINDS: ReadonlySet<string> = new Set([
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
const HOOKS_WHOSE_OUTPUT_IS_SENT: readonly unknown[] = ['SessionStart', 'UserPromptSubmit', 'UserPromptExpansion'];

export function parseAttachment(record: Fields): Attachment | undefined {
  const attachment = record['attachment'];
  if (!isRecord(attachment)) return undefined;
  const name = readString(attachment, 'type') ?? '';
  const renderedBlocks = readRenderedBlocks(record['rendered']);
  const role = record['renderedRole'];
  const isRoleRecorded = role === 'user' || role === 'system';
  return {
    name,
    isUnrendered: renderedBlocks === undefined && !isRoleRecorded,
    sending: determineAttachmentUse(
      attachment,
      name,
      renderedBlocks,
      isRoleRecorded ? role : getAttachmentRole(attachment, name),
    ),
  };
}

/**
 * Claude Code sends these kinds in the user's role if the record names none (`QZo`), and all others
 * in the system's.
 */
const ATTACHMENT_KINDS_AS_USER: ReadonlySet<string> = new Set([
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

function getAttachmentRole(attachment: Fields, name: string): 'user' | 'system' {
  const isSentAsUser =
    ATTACHMENT_KINDS_AS_USER.has(name) ||
    (name === 'plugin_note' && attachment['sentAs'] !== 'system') ||
    (name === 'at_mention_reference' && attachment['unread'] === 'in_ranges') ||
    (name === 'critical_system_reminder' && attachment['namesAnUpload'] === true) ||
    (name === 'queued_command' && attachment['carriedByCompaction'] === true) ||
    (name === 'invoked_skills' &&
      readRecordListField(attachment, 'skills').some((skill) => skill['mcpSkill'] !== undefined));
  return isSentAsUser ? 'user' : 'system';
}

function determineAttachmentUse(
  attachment: Fields,
  name: string,
  rendered: readonly Block[] | undefined,
  role: 'user' | 'system',
): AttachmentUse {
  if (name === 'queued_command') return toQueuedPrompt(attachment, rendered, role);
  const isRenewed = RENEWED_ATTACHMENT_KINDS.has(name);
  if (rendered) return { kind: 'agent', content: rendered, role, isRenewed };
  const renderer = Object.hasOwn(RENDERER_BY_ATTACHMENT_KIND, name) ? RENDERER_BY_ATTACHMENT_KIND[name] : undefined;
  if (renderer === undefined) return { kind: 'unknown' };
  if (renderer === NOT_SENT || isHookWithUnsentOutput(attachment, name)) return { kind: 'not-sent' };
  const rendering = renderer(attachment);
  if (rendering === undefined) return canRenderToNothing(name) ? { kind: 'not-sent' } : { kind: 'words-missing' };
  const content = (typeof rendering === 'string' ? [rendering] : rendering).map((part): Block =>
    typeof part === 'string' ? { type: 'text', text: wrapInReminder(part) } : part,
  );
  // The system role accepts only text.
  return { kind: 'agent', content, role: content.every(isText) ? role : 'user', isRenewed };
}

/** Nothing was sent for a listing without changes or a silent hook. */
const canRenderToNothing = (name: string): boolean =>
  /_delta$|^hook_|^async_hook_/.test(name) || name === 'skill_listing';

const isHookWithUnsentOutput = (attachment: Fields, name: string): boolean =>
  name === 'hook_success' && !HOOKS_WHOSE_OUTPUT_IS_SENT.includes(attachment['hookEvent']);

/**
 * Claude Code wraps a prompt typed during a running turn in two sentences, which we drop. The first
 * record of a batch contains all of it.
 */
function toQueuedPrompt(
  attachment: Fields,
  rendered: readonly Block[] | undefined,
  role: 'user' | 'system',
): AttachmentUse {
  if (attachment['renderedByBatchHead']) return { kind: 'not-sent' };
  const batchText = readTextListField(attachment, 'batchedRelayPrompts').join('\n\n');
  const content = batchText === '' ? readBlocksSentToVendor(attachment['prompt']) : [makeTextBlock(batchText)];
  if (isTypedByPerson(attachment)) return content.length > 0 ? { kind: 'person', content } : { kind: 'words-missing' };
  const ownContent = rendered ?? content;
  return ownContent.length > 0
    ? { kind: 'agent', content: ownContent, role, isRenewed: false }
    : { kind: 'words-missing' };
}

function isTypedByPerson(attachment: Fields): boolean {
  const { origin } = attachment;
  const isHuman = !isRecord(origin) || origin['kind'] === 'human' || origin['kind'] === 'voice-call';
  return isHuman && attachment['isMeta'] !== true && attachment['commandMode'] !== 'task-notification';
}

function readRenderedBlocks(rendered: unknown): readonly Block[] | undefined {
  if (!Array.isArray(rendered)) return undefined;
  const content = rendered.flatMap((message: unknown) =>
    isRecord(message) ? readBlocksSentToVendor(message['content']) : [],
  );
  return content.length > 0 ? content : undefined;
}

const BLOCK_TYPES_SENT_TO_VENDOR: readonly unknown[] = ['text', 'image', 'document'];

function readBlocksSentToVendor(content: unknown): readonly Block[] {
  if (typeof content === 'string') return content.trim() === '' ? [] : [makeTextBlock(content)];
  if (!Array.isArray(content)) return [];
  return content.filter(
    (block): block is Block =>
      isRecord(block) &&
      BLOCK_TYPES_SENT_TO_VENDOR.includes(block['type']) &&
      (block['type'] !== 'text' || (typeof block['text'] === 'string' && block['text'].trim() !== '')),
  );
}

const makeTextBlock = (text: string): Block => ({ type: 'text', text });

const wrapInReminder = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;

const undefinedIfBlank = (text: string | undefined): string | undefined => (text?.trim() ? text : undefined);

const readTextListField = (from: Fields, name: string): readonly string[] => {
  const list = from[name];
  if (typeof list === 'string') return [list];
  return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];
};

const readRecordListField = (from: Fields, name: string): readonly Fields[] => {
  const list = from[name];
  return Array.isArray(list) ? list.filter(isRecord) : [];
};

const formatListWithHeading = (heading: string, list: readonly string[], between = '\n'): string | undefined =>
  list.length === 0 ? undefined : `${heading}\n${list.join(between)}`;

const addDash = (text: string): string => `- ${text}`;

const formatList = (list: readonly string[]): string => list.map(addDash).join('\n');

const formatTaskList = (advice: string, heading: string, list: readonly string[]): string =>
  [advice, formatListWithHeading(`${heading}\n`, list)].filter((part) => part !== undefined).join('\n\n');

const readHookName = (attachment: Fields): string => readString(attachment, 'hookName') ?? '';

function renderSelectedLines(attachment: Fields, source: string): string {
  const firstLine = attachment['lineStart'];
  const range = typeof firstLine === 'number' ? `the lines ${firstLine} to ${String(attachment['lineEnd'])}` : 'lines';
  return `The user selected ${range} ${source}:\n${readString(attachment, 'content') ?? ''}\n\nThis may or may not be related to the current task.`;
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
      const firstLineNumber = typeof file['startLine'] === 'number' ? file['startLine'] : 1;
      const numberedLines = (readString(file, 'content') ?? '')
        .split('\n')
        .map((line, at) => `${firstLineNumber + at}\t${line}`);
      return [call, formatResult('Read', numberedLines.join('\n'))];
    }
    case 'notebook':
      return [
        call,
        formatResult(
          'Read',
          readRecordListField(file, 'cells')
            .map((cell) => renderNotebookCell(cell['source']))
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

const renderNotebookCell = (source: unknown): string =>
  Array.isArray(source) ? source.join('') : stringifyValue(source);

function renderResource({ server, uri, content }: Fields): string | undefined {
  if (!isRecord(content)) return undefined;
  const contentTexts = readRecordListField(content, 'contents').flatMap((part) => readString(part, 'text') ?? []);
  return contentTexts.length === 0
    ? `<mcp-resource server="${String(server)}" uri="${String(uri)}">(No content)</mcp-resource>`
    : `Full contents of resource:\n${contentTexts.join('\n')}`;
}

function renderDiagnostics(attachment: Fields): string | undefined {
  const files = readRecordListField(attachment, 'files').map((file) => {
    const diagnostics = readRecordListField(file, 'diagnostics').map(
      (one) => `  ${formatLineNumber(one['range'])}${readString(one, 'message') ?? ''}`,
    );
    return `${(readString(file, 'uri') ?? '').split('/').pop() ?? ''}:\n${diagnostics.join('\n')}`;
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
