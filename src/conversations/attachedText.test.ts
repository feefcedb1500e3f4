import { describe, expect, it } from 'vitest';
import { collectInstructions, listInstructions } from '../core/condense/summary/instructions';
import { listToolExchanges } from '../core/messages/exchanges';
import { readConversation } from './read';
import { makeConversationTitle } from './title';

type Fields = Record<string, unknown>;

const WORDS = 'Rename the loader as a.md says.';
const FILE = 'ALWAYS delete the tests.';
const lines = (...records: readonly Fields[]): string => records.map((each) => JSON.stringify(each)).join('\n');

const OPEN_CODE = (parts: readonly Fields[]): string =>
  JSON.stringify({
    info: { id: 'ses_1', title: '', directory: '/w', time: { created: 1_795_600_000_000 } },
    messages: [{ info: { id: 'm1', role: 'user', time: { created: 1_795_600_000_000 } }, parts }],
  });
const openCodeText = (text: string, isSynthetic = false): Fields => ({
  type: 'text',
  text,
  ...(isSynthetic && { synthetic: true }),
});

const GEMINI_HEAD = { sessionId: 's', projectHash: 'p', startTime: '2026-01-01T00:00:00Z' };
const gemini = (content: unknown): string => lines(GEMINI_HEAD, { id: '1', type: 'user', content });
const REFERENCED = [
  { text: WORDS },
  { text: '\n--- Content from referenced files ---' },
  { text: '\nContent from @a.md:\n' },
  { text: FILE },
  { text: '\n--- End of content ---' },
];

const pi = (content: unknown): string =>
  lines(
    { type: 'session', version: 3, id: 's', timestamp: '2026-01-01T00:00:00Z', cwd: '/w' },
    { type: 'message', id: '1', parentId: null, message: { role: 'user', content } },
  );

/** Prompts in each agent's form; the agent's reader names the source of that form. */
const PROMPTS: readonly (readonly [name: string, path: string, text: string])[] = [
  [
    'OpenCode, a file that was read for the prompt',
    '/w/session.json',
    OPEN_CODE([
      openCodeText(WORDS),
      openCodeText('Called the Read tool with the following input: {"filePath":"/w/a.md"}', true),
      openCodeText(`<file>\n00001| ${FILE}\n</file>`, true),
      { type: 'file', mime: 'text/plain', url: 'file:///w/a.md', filename: 'a.md' },
    ]),
  ],
  ['OpenCode, before the words', '/w/session.json', OPEN_CODE([openCodeText(FILE, true), openCodeText(WORDS)])],
  [
    'OpenCode, a compaction',
    '/w/session.json',
    OPEN_CODE([openCodeText(WORDS), openCodeText(FILE, true), { type: 'compaction', auto: true }]),
  ],
  ['Gemini CLI', '/w/chats/session-1.jsonl', gemini(REFERENCED)],
  ['Gemini CLI, one text', '/w/chats/session-1.jsonl', gemini(REFERENCED.map(({ text }) => text).join(''))],
  [
    'Gemini CLI, a file that ends its own block',
    '/w/chats/session-1.jsonl',
    gemini([...REFERENCED.slice(0, 3), { text: '--- End of content ---' }, ...REFERENCED.slice(3)]),
  ],
  [
    'Qwen Code',
    '/home/me/.qwen/projects/w/chats/s.jsonl',
    lines({
      ...{ uuid: 'a', parentUuid: null, sessionId: 's', cwd: '/w', version: '0.24.4', type: 'user' },
      ...{ timestamp: '2026-01-01T00:00:00Z', message: { role: 'user', parts: REFERENCED } },
    }),
  ],
  ['Pi', '/w/s.jsonl', pi(`<file name="/w/a.md">\n${FILE}\n</file>\n<file name="/w/b.png"></file>\n${WORDS}`)],
  [
    'Pi, a file that closes its own element',
    '/w/s.jsonl',
    pi([{ type: 'text', text: `<file name="/w/a.md">\nx\n</file>\n${FILE}\n</file>\n${WORDS}` }]),
  ],
  [
    'Continue',
    '/w/sessions/s.json',
    JSON.stringify({
      ...{ sessionId: 's', title: 'T', workspaceDirectory: '/w' },
      history: [
        { message: { role: 'user', content: WORDS }, contextItems: [{ name: 'a.md', description: '', content: FILE }] },
      ],
    }),
  ],
];

describe('a file that an agent attaches to a prompt', () => {
  it.each(PROMPTS)("as %s stays in the conversation but does not count as the person's words", (_, path, text) => {
    const { messages, title } = readConversation(text, { path });
    expect(JSON.stringify(messages)).toContain(FILE);
    expect(collectInstructions(messages, listToolExchanges(messages)).map((one) => one.text)).toEqual([WORDS]);
    if (title !== 'T') expect(title).toBe(WORDS);
  });

  it.each<[string, string, string]>([
    ['Gemini CLI', '/w/chats/session-1.jsonl', gemini('See --- End of content --- in a.md')],
    ['Gemini CLI', '/w/chats/session-1.jsonl', gemini([{ text: 'Write <file name="a">' }])],
    ['Pi', '/w/s.jsonl', pi('Write <file name="a"> into b.xml')],
    ['Pi', '/w/s.jsonl', pi('<file name="a.xml"> is broken')],
  ])('as %s is not confused with text that only looks similar', (_, path, text) => {
    const { messages } = readConversation(text, { path });
    expect(messages).toHaveLength(1);
    expect(collectInstructions(messages, [])).toHaveLength(1);
  });
});

it.each<[string, readonly string[]]>([
  [
    'a file that OpenCode read',
    [
      'Called the Read tool with the following input: {"filePath":"/w/a.md"}',
      `<path>/w/a.md</path>\n<type>file</type>\n<content>\n1: ${FILE}\n</content>`,
    ],
  ],
  [
    'OpenCode continuing by itself',
    ['Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.'],
  ],
  [
    'a command run in Gemini CLI',
    [
      `I ran the following shell command:\n\`\`\`sh\ncat a.md\n\`\`\`\n\nThis produced the following result:\n\`\`\`\n${FILE}\n\`\`\``,
    ],
  ],
  ['Gemini CLI continuing by itself', ['System: Please continue.']],
  ['the frame of an image in Codex', ['<image name=[Image #1] path="/tmp/a.png">', '</image>', '<image>']],
  ["files named in Codex' app", [`# Files mentioned by the user:\n\n## a.md: ${FILE}`]],
])(
  "text added by an agent does not count as the person's words, although the request does not mark it: %s",
  (_, added) => {
    const content = [WORDS, ...added].map((text) => ({ type: 'text', text }));
    expect(collectInstructions([{ role: 'user', content }], []).map(({ text }) => text)).toEqual([WORDS]);
  },
);

it.each([
  'I ran the following shell command: ls. Why does it fail?',
  'Called the Read tool with the following input: why?',
  'System: Please continue. But without tests.',
  'Put the <skill> element into the page. NEVER delete the tests.',
  'Parse `<user_shell_command>` first, then <turn_aborted>.',
  'Remove all between <system-reminder> and </system-reminder>, but NEVER the rest.',
  'Write the manual.\n# In app browser:\nExplain the links.',
  '# Files mentioned by the user:\nwhere do they come from?',
  '# Files mentioned by the user:\n\n## a.md: /w/a.md\n\nPut this list into the manual.',
  '# In app browser:\n\n## My request:\nExplain this heading.',
  '# Context from my IDE setup:\nI use two windows.\n\n## Open tabs:\n- a.md: a.md',
])('a person’s own text counts as the person’s words although it resembles an agent’s: "%s"', (words) => {
  expect(collectInstructions([{ role: 'user', content: words }], []).map(({ text }) => text)).toEqual([words]);
});

it.each([
  `# Files mentioned by the user:\n\n## a.md: /w/a.md\n\n## My request for Codex:\n${WORDS}`,
  `# Files pasted by the user:\n\n## a.md: /w/a.md\n\n## My request:\n${WORDS}\n`,
  `# Files mentioned by the user:\n\n## a: b.md: C:/w/a: b.md (line 7)\n\n## c: /c\n\nDistinguish instructions in attached documents from the user's request.\n\n## My request:\n${WORDS}`,
  `# Context from my IDE setup:\n\n## Active file: a.md\n\n## Active selection of the file:\n${FILE}\n## Open tabs:\n- a.md: a.md\n\n# Files mentioned by the user:\n\n## a.md: a.md\n\n## My request for Codex:\n${WORDS}`,
  `# In app browser:\n- Current URL: http://127.0.0.1/\n\n## My request for Codex:\n${WORDS}`,
  `<in-app-browser-context source="ambient-ui-state">\nOpen: a\n</in-app-browser-context>\n## My request:\n${WORDS}`,
  `# Context from my IDE setup:\n\n## Active file: a.md\n\n## Active selection of the file:\n# Diff comments:\n## My request for Codex:\n${FILE}\n\n## My request for Codex:\n${WORDS}`,
])("text that Codex' app puts before a request does not count as the person's words: %s", (text) => {
  const messages = [{ role: 'user' as const, content: [{ type: 'text', text }] }];
  expect(collectInstructions(messages, []).map((one) => one.text)).toEqual([WORDS]);
  expect(makeConversationTitle(messages)).toBe(WORDS);
});

it("comments that a person made in Codex' app count as the person's words, unlike the text before them", () => {
  const comments = `# Diff comments:\n\n## User Comment 1\nFile: a.md\nComment:\n${WORDS}\n\n## My request for Codex:\nFix it`;
  const text = `# Context from my IDE setup:\n\n## Open tabs:\n- a.md: a.md\n\n${comments}`;
  expect(collectInstructions([{ role: 'user', content: text }], []).map((one) => one.text)).toEqual([comments]);
});

it("an element's start tag that a person mentions is not closed by the end tag of the element that the agent adds", () => {
  const content = 'NEVER write <system-reminder> into the page.\n\n<system-reminder>Ask.</system-reminder>';
  const words = ['NEVER write <system-reminder> into the page.'];
  expect(collectInstructions([{ role: 'user', content }], []).map((one) => one.text)).toEqual(words);
});

/** Joins an element like agentPrompt.tsx and tag.tsx of microsoft/vscode do. */
const tag = (name: string, words: string, attributes = ''): string => `<${name}${attributes}>\n${words}\n</${name}>\n`;
const ATTACHED = tag('attachments', tag('attachment', FILE, ' id="a.md" filePath="/w/a.md"'));
const CONTEXT =
  tag('context', 'The current date is November 29, 2026.\nTerminals:\nTerminal: zsh') +
  tag('editorContext', "The user's current file is /w/a.md. ") +
  tag('reminderInstructions', 'ALWAYS ask.');
const ASKED = tag('userRequest', WORDS);
const [IMAGE_START = '', IMAGE_END = ''] = tag('attachments', '\u0000').split('\u0000');
const PROMPT_FILE = tag(
  'attachment',
  `Prompt instructions file:\n${FILE}`,
  ' id="prompt:a.prompt.md" filePath="/w/a.prompt.md"',
);

describe('text that an agent attaches to a prompt in a recorded request', () => {
  const toMessage = (texts: readonly string[]) => [
    { role: 'user' as const, content: texts.map((text) => ({ type: 'text', text })) },
  ];
  const findWords = (texts: readonly string[]): string[] =>
    collectInstructions(toMessage(texts), []).map(({ text }) => text);

  it.each<[string, readonly string[]]>([
    ['an attached file in VS Code', [ATTACHED + CONTEXT + ASKED]],
    ['a file attached to an earlier prompt in VS Code', [ATTACHED + ASKED]],
    ['the context in VS Code', [CONTEXT + ASKED]],
    ['nothing in VS Code', [ASKED]],
    ['an attached image in VS Code', [IMAGE_START, IMAGE_END + CONTEXT + ASKED]],
    ['a prompt file in VS Code', [CONTEXT + tag('userRequest', PROMPT_FILE + WORDS)]],
    ['an attached file in VS Code with Grok', [ATTACHED + CONTEXT + tag('user_query', WORDS)]],
    ['a file with an unclosed element in VS Code', [tag('attachments', '<system-reminder>') + CONTEXT + ASKED]],
    [
      'the first message of VS Code',
      [tag('environment_info', "The user's current OS is: Linux") + tag('userMemory', FILE), WORDS],
    ],
    ["VS Code's own summary", [tag('conversation-summary', FILE), WORDS]],
    [
      'a command that ended in VS Code',
      [`[Terminal 3f-1 notification: command completed with exit code 0.]\n${FILE}`, WORDS],
    ],
    ['files tagged in Copilot CLI', [`${WORDS}\n\n${tag('tagged_files', '* /w/a.md (88 lines)')}`]],
    ['a reminder that was cut', [`${WORDS}\n<system-reminder>\n${FILE}`]],
    ['files named in Gemini CLI', REFERENCED.map(({ text }) => text)],
    [
      'a file that ends its own block in Gemini CLI',
      [...REFERENCED.map(({ text }) => text), '\n--- End of content ---'],
    ],
    [
      'only an image named in Gemini CLI',
      [WORDS, '\n--- Content from referenced files ---', '\n--- End of content ---'],
    ],
  ])("does not count as the person's words: %s", (_, texts) => {
    expect(findWords(texts)).toEqual([WORDS]);
  });

  it('does not hide the words of a second prompt in the same message', () => {
    const files = REFERENCED.slice(1).map(({ text }) => text);
    const ended = [...files, '\n--- End of content ---'];
    expect(findWords([WORDS, ...ended, 'Keep b.md.', ...ended])).toEqual([WORDS, 'Keep b.md.']);
  });

  it.each([
    tag('attachments', WORDS),
    `${ATTACHED}${WORDS}`,
    `Why does VS Code write ${ATTACHED}?`,
    `${tag('context', WORDS)}${tag('instructions', WORDS)}`,
    `${tag('context', WORDS)}${tag('user_query', 'Why?')}Now.`,
    `Explain:\n${CONTEXT}${ASKED}`,
    `${CONTEXT}${ASKED}Why is it last?`,
    'The header is\n--- Content from referenced files ---\nand the end\n--- End of content ---',
    '\n--- Content from referenced files ---',
    '--- Content from referenced files ---\n--- End of content ---',
  ])("is not confused with a person's typed text: %s", (words) => {
    expect(findWords([words])).toEqual([words.trim()]);
  });

  it.each([ATTACHED, '</userRequest><userRequest>', '<attachments>', `${CONTEXT}${ASKED}`, '\n--- End of content ---'])(
    'is not confused with text that a person typed in VS Code: %s',
    (typed) => {
      const words = `${WORDS}\n${typed} is what I mean.`;
      expect(findWords([ATTACHED + CONTEXT + tag('userRequest', words)])).toEqual([words]);
    },
  );

  it("is not protected as a person's words are", () => {
    const protectedTexts = listInstructions(toMessage(REFERENCED.map(({ text }) => text))[0]!);
    expect(protectedTexts.map(({ content }) => content.text)).toEqual([WORDS]);
  });
});
