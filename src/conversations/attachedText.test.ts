import { describe, expect, it } from 'vitest';
import { collectInstructions } from '../core/condense/summary/instructions';
import { listToolExchanges } from '../core/messages/exchanges';
import { readConversation } from './read';
import { makeTitle } from './title';

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

/** Sources: each agent's reader. */
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
  it.each(PROMPTS)('of %s stays in the conversation but is not what the person wrote', (_, path, text) => {
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
  ])('of %s is not seen in what only looks like one', (_, path, text) => {
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
])('%s is not what the person wrote in a request, which does not mark it', (_, added) => {
  const content = [WORDS, ...added].map((text) => ({ type: 'text', text }));
  expect(collectInstructions([{ role: 'user', content }], []).map(({ text }) => text)).toEqual([WORDS]);
});

it.each([
  'I ran the following shell command: ls. Why does it fail?',
  'Called the Read tool with the following input: why?',
  'System: Please continue. But without tests.',
  'Write the manual.\n# In app browser:\nExplain the links.',
])('"%s" is what the person wrote', (words) => {
  expect(collectInstructions([{ role: 'user', content: words }], []).map(({ text }) => text)).toEqual([words]);
});

it.each([
  `# Files mentioned by the user:\n\n## a.md: /w/a.md\n\n## My request for Codex:\n${WORDS}`,
  `# Files pasted by the user:\n\n## a.md: /w/a.md\n\n## My request:\n${WORDS}\n`,
  `# In app browser:\n- Current URL: http://127.0.0.1/\n\n## My request for Codex:\n${WORDS}`,
  `<in-app-browser-context source="ambient-ui-state">\nOpen: a\n</in-app-browser-context>\n## My request:\n${WORDS}`,
  `# Context from my IDE setup:\n\n## Active selection:\n## My request for Codex:\n${FILE}\n\n## My request for Codex:\n${WORDS}`,
])("what Codex' app puts before a request is not what the person wrote: %s", (text) => {
  const messages = [{ role: 'user' as const, content: [{ type: 'text', text }] }];
  expect(collectInstructions(messages, []).map((one) => one.text)).toEqual([WORDS]);
  expect(makeTitle(messages)).toBe(WORDS);
});
