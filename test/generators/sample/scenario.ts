/**
 * The sample conversation: an agent adds tags to notes, from the first look at the code to passing
 * tests.
 */
import { ClaudeCodeTools, type Todo } from '../claudeCodeTools';
import type { Random } from '../random';
import { Session } from '../session';
import { Workspace } from '../workspace';
import { PROJECT } from './project';
import { testRun } from './testRun';

const STEPS = [
  ['Add tags to the note model', 'Adding tags to the note model'],
  ['Read files of version 2 and write version 3', 'Migrating the store format'],
  ['Let search filter by tag', 'Letting search filter by tag'],
  ['Add --tag to the commands', 'Adding --tag to the commands'],
  ['Cover it with tests', 'Covering it with tests'],
] as const;

const plan = (done: number): Todo[] =>
  STEPS.map(([content, activeForm], index) => ({
    content,
    activeForm,
    status: index < done ? 'completed' : index === done ? 'in_progress' : 'pending',
  }));

export function sampleSession(random: Random): Session {
  const workspace = new Workspace('/home/dev/quicknotes');
  for (const [path, text] of Object.entries(PROJECT)) workspace.write(path, text);
  const tools = new ClaudeCodeTools(workspace);
  const session = new Session(random);
  const tests = (): ReturnType<typeof testRun> => testRun(tools, workspace, random);

  session.user(
    'Notes should have tags. `qn add "Buy milk" --tag home --tag shopping` sets them, `qn list --tag home` and `qn search milk --tag home` filter by them, and lists show them behind the title. Old files must keep working. Please write tests too.',
  );

  session.think(
    'The user wants tags on notes. I should look at the project first: the note model, the store with its format version, search, formatting and the command line. Then plan.',
  );
  session.say("I'll look at the project first.");
  session.call(tools.glob('**/*.ts', '.ts'));
  session.call(tools.read('src/note.ts'), tools.read('src/store.ts'), tools.read('src/cli.ts'));
  session.call(tools.read('src/search.ts'), tools.read('src/format.ts'), tools.read('test/cli.test.ts'));
  session.say('Before I change anything, let me see that the tests pass.');
  session.call(tests());
  session.call(tools.todo(plan(0)));

  session.think(
    'Tags: normalize to lower case, letters, digits and dashes, unique, sorted. Note gets `tags: readonly string[]`. Files of version 2 have no tags, so loading must add an empty list. NoteInput gets optional tags.',
  );
  session.say('The note model comes first: tags are normalized once, where a note is made.');
  session.call(
    tools.edit(
      'src/note.ts',
      '  readonly updatedAt: string;\n  readonly archived: boolean;\n}',
      '  readonly updatedAt: string;\n  readonly archived: boolean;\n  /** Lower case, sorted, each once. */\n  readonly tags: readonly string[];\n}',
    ),
  );
  session.call(
    tools.edit(
      'src/note.ts',
      '  readonly title: string;\n  readonly body?: string;\n}',
      '  readonly title: string;\n  readonly body?: string;\n  readonly tags?: readonly string[];\n}',
    ),
    tools.edit(
      'src/note.ts',
      '    archived: false,\n  };',
      '    archived: false,\n    tags: normalizeTags(input.tags ?? []),\n  };',
    ),
    tools.edit(
      'src/note.ts',
      '    ...(changes.body === undefined ? {} : { body: changes.body.trim() }),\n',
      '    ...(changes.body === undefined ? {} : { body: changes.body.trim() }),\n    ...(changes.tags === undefined ? {} : { tags: normalizeTags(changes.tags) }),\n',
    ),
  );
  session.call(
    tools.edit(
      'src/note.ts',
      'function normalizeTitle(raw: string): string {',
      "const TAG = /^[\\p{L}\\p{N}][\\p{L}\\p{N}-]*$/u;\n\n/** Tags in the form in which they are kept and compared. @throws InvalidNoteError for one that is no word. */\nexport function normalizeTags(raw: readonly string[]): string[] {\n  const tags = raw.map((tag) => tag.trim().replace(/^#/, '').toLowerCase());\n  const wrong = tags.find((tag) => !TAG.test(tag));\n  if (wrong !== undefined) throw new InvalidNoteError('\"' + wrong + '\" is no tag: letters, digits and dashes only');\n  return [...new Set(tags)].sort();\n}\n\nfunction normalizeTitle(raw: string): string {",
    ),
  );
  session.call(tools.todo(plan(1)));

  session.say('Now the store: version 3, and version 2 is read with no tags.');
  session.call(
    tools.failedEdit(
      'src/store.ts',
      'const FORMAT_VERSION = 2;\n\ninterface StoreFile {\n  version: number;\n  notes: Note[];\n}',
      'const FORMAT_VERSION = 3;\n\ninterface StoreFile {\n  version: number;\n  notes: Note[];\n}',
    ),
  );
  session.call(tools.read('src/store.ts', 1, 40));
  session.call(
    tools.edit('src/store.ts', 'const FORMAT_VERSION = 2;', '/** 3: notes have tags. */\nconst FORMAT_VERSION = 3;'),
  );
  session.call(
    tools.edit(
      'src/store.ts',
      "    throw new StoreFormatError('the notes file was written by a newer version of quicknotes');\n  }\n  return value;\n}",
      "    throw new StoreFormatError('the notes file was written by a newer version of quicknotes');\n  }\n  return { version: FORMAT_VERSION, notes: value.notes.map(withTags) };\n}\n\n/** Notes of version 2 have no tags. */\nconst withTags = (note: Omit<Note, 'tags'> & Partial<Pick<Note, 'tags'>>): Note => ({ ...note, tags: note.tags ?? [] });",
    ),
  );
  session.call(tests());
  session.think(
    'cli.test.ts expects version 2 in the file. That is the one failure, and it is right: the format did change. I will update that test with the others.',
  );
  session.say(
    'One failure, as expected: the test names the old version. I will change it together with the other tests.',
  );

  session.call(tools.grep('searchNotes|store\\.list', undefined));
  session.call(
    tools.edit(
      'src/search.ts',
      '/** Notes that hold all words of the query, best first. */',
      '/** Notes that carry all the tags. */\nexport function filterByTags(notes: readonly Note[], tags: readonly string[]): Note[] {\n  return notes.filter((note) => tags.every((tag) => note.tags.includes(tag)));\n}\n\n/** Notes that hold all words of the query, best first. */',
    ),
  );
  session.call(tools.todo(plan(3)));

  session.say('Now the command line and the rows of a list.');
  session.call(tools.read('src/cli.ts', 30, 60));
  session.call(
    tools.edit(
      'src/cli.ts',
      "      options: { body: { type: 'string', short: 'b' } },\n    });\n    const note = createNote({\n      title: positionals.join(' '),\n",
      "      options: { body: { type: 'string', short: 'b' }, tag: { type: 'string', multiple: true } },\n    });\n    const note = createNote({\n      title: positionals.join(' '),\n      tags: values.tag ?? [],\n",
    ),
  );
  session.call(
    tools.edit(
      'src/cli.ts',
      "    const { values } = parseArgs({ args: [...args], options: { all: { type: 'boolean', short: 'a' } } });\n    environment.print(formatList(store.list({ includeArchived: values.all === true }), environment.format));",
      "    const { values } = parseArgs({\n      args: [...args],\n      options: { all: { type: 'boolean', short: 'a' }, tag: { type: 'string', multiple: true } },\n    });\n    const notes = store.list({ includeArchived: values.all === true });\n    environment.print(formatList(filterByTags(notes, normalizeTags(values.tag ?? [])), environment.format));",
    ),
  );
  session.call(
    tools.edit(
      'src/cli.ts',
      "    environment.print(formatHits(searchNotes(store.list(), args.join(' ')), environment.format));\n    return 0;",
      "    const { positionals, values } = parseArgs({\n      args: [...args],\n      allowPositionals: true,\n      options: { tag: { type: 'string', multiple: true } },\n    });\n    const notes = filterByTags(store.list(), normalizeTags(values.tag ?? []));\n    environment.print(formatHits(searchNotes(notes, positionals.join(' ')), environment.format));\n    return 0;",
    ),
  );
  session.call(
    tools.edit(
      'src/cli.ts',
      "import { archiveNote, createNote, InvalidNoteError, updateNote } from './note.js';\nimport { searchNotes } from './search.js';",
      "import { archiveNote, createNote, InvalidNoteError, normalizeTags, updateNote } from './note.js';\nimport { filterByTags, searchNotes } from './search.js';",
    ),
    tools.edit(
      'src/format.ts',
      "  return id + '  ' + age + '  ' + (note.archived ? dim(title + ' (archived)', options) : title);",
      "  const tags = note.tags.length === 0 ? '' : '  ' + dim(note.tags.map((tag) => '#' + tag).join(' '), options);\n  return id + '  ' + age + '  ' + (note.archived ? dim(title + ' (archived)', options) : title) + tags;",
    ),
  );
  session.call(tests());
  session.call(tools.todo(plan(4)));

  session.say('Now the tests. First another look at the ones that are there.');
  session.call(tools.read('test/cli.test.ts'), tools.read('test/note.test.ts'));
  session.call(
    tools.edit('test/cli.test.ts', '    expect(file.version).toBe(2);', '    expect(file.version).toBe(3);'),
    tools.edit(
      'test/cli.test.ts',
      "  it('leaves a broken file alone', async () => {",
      "  it('filters lists and searches by tag', async () => {\n    await run('add', 'Buy milk', '--tag', 'Home', '--tag', '#shopping');\n    await run('add', 'Milk the data', '--tag', 'work');\n    await run('list', '--tag', 'home');\n    expect(printed.at(-1)).toContain('Buy milk  #home #shopping');\n    expect(printed.at(-1)).not.toContain('Milk the data');\n    await run('search', 'milk', '--tag', 'work');\n    expect(printed.at(-1)).toContain('Milk the data');\n  });\n\n  it('reads files without tags', async () => {\n    const old = { id: 'abc', title: 'Old', body: '', createdAt: '2025-01-01T00:00:00Z', updatedAt: '2025-01-01T00:00:00Z', archived: false };\n    await writeFile(join(folder, 'notes.json'), JSON.stringify({ version: 2, notes: [old] }), 'utf8');\n    expect(await run('list')).toBe(0);\n    expect(printed.at(-1)).toContain('Old');\n  });\n\n  it('leaves a broken file alone', async () => {",
    ),
  );
  session.call(
    tools.edit(
      'test/note.test.ts',
      "  it('refuses an empty title', () => {",
      "  it('brings tags into one form', () => {\n    const note = createNote({ title: 'Buy milk', tags: ['Shopping', '#home', 'home '] }, NOW);\n    expect(note.tags).toEqual(['home', 'shopping']);\n  });\n\n  it('refuses what is no tag', () => {\n    expect(() => createNote({ title: 'Buy milk', tags: ['two words'] }, NOW)).toThrow('is no tag');\n  });\n\n  it('refuses an empty title', () => {",
    ),
  );
  session.call(tests());

  session.call(tools.todo(plan(5)));
  session.say(
    'Notes have tags now.\n\n- `qn add … --tag home` sets them; they are kept in lower case, sorted, each once, and `#home` is the same as `home`.\n- `qn list --tag home` and `qn search milk --tag home` filter; with several tags a note needs all of them.\n- Lists show tags behind the title.\n- Files of version 2 are read as before and get version 3 with the next change.\n\nAll tests pass.',
  );
  session.flush();

  session.user('Thanks! Before I commit, please go over the whole change once more.');
  session.call(tools.read('src/store.ts'), tools.read('src/cli.ts'));
  session.call(tools.bash('npx tsc --noEmit -p .', 'Check the types', ''), tests());
  session.think(
    'The code is sound. USAGE must mention --tag, though; it does not yet. And `edit` cannot change tags; the user did not ask for that.',
  );
  session.say('One thing is missing: the usage text does not know `--tag` yet.');
  session.call(
    tools.edit(
      'src/cli.ts',
      "  '  search <words>                     find notes',",
      "  '  search <words> [--tag <tag>]...    find notes',",
    ),
    tools.edit(
      'src/cli.ts',
      "  '  add <title> [--body <text>]        add a note',\n  '  list [--all]                       list notes, newest first',",
      "  '  add <title> [--body] [--tag]...    add a note',\n  '  list [--all] [--tag <tag>]...      list notes, newest first',",
    ),
  );
  session.call(tests());
  session.say('The usage text is right now, and all tests pass. `qn edit` does not change tags yet; shall I add that?');
  session.flush();

  session.user('Yes please, `qn edit <id> --tag x` should replace the tags.');
  session.call(tools.read('src/cli.ts', 60, 40));
  session.call(
    tools.edit(
      'src/cli.ts',
      "      options: { title: { type: 'string', short: 't' }, body: { type: 'string', short: 'b' } },\n    });",
      "      options: {\n        title: { type: 'string', short: 't' },\n        body: { type: 'string', short: 'b' },\n        tag: { type: 'string', multiple: true },\n      },\n    });",
    ),
    tools.edit(
      'src/cli.ts',
      '    await store.put(updateNote(note, values));',
      '    const { tag: tags, ...changes } = values;\n    await store.put(updateNote(note, tags === undefined ? changes : { ...changes, tags }));',
    ),
  );
  session.call(
    tools.edit(
      'test/cli.test.ts',
      "  it('reads files without tags', async () => {",
      "  it('replaces tags', async () => {\n    await run('add', 'Buy milk', '--tag', 'home');\n    const id = printed[0]?.slice('added '.length) ?? '';\n    expect(await run('edit', id, '--tag', 'urgent')).toBe(0);\n    await run('list');\n    expect(printed.at(-1)).toContain('Buy milk  #urgent');\n  });\n\n  it('reads files without tags', async () => {",
    ),
  );
  session.call(tests());
  session.call(tools.read('src/store.ts'));
  session.say('`qn edit <id> --tag x` replaces the tags of a note, and a test holds it. All tests pass.');
  session.flush();
  return session;
}
