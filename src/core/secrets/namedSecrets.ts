import { memoizeByObject } from '../memoizeByObject';
import { compareStart, type Slice } from '../slice';
import {
  findMatchesInWindows,
  findMatchInWindow,
  getWindowWithContext,
  WINDOW_CHARS,
  splitIntoWindows,
  type WindowMatch,
} from './windows';

/** Weak names have other uses too, so their values must look random. */
const STRONG_SECRET_NAME =
  'pass(?:word|wd|phrase|wort|code)|(?<=_)pass(?![A-Za-z])|(?<![A-Za-z])contraseña|mot[_-]de[_-]passe|kennwort|pwd|secret|api key|(?:api|access|account|private|signing|encryption|license|subscription|shared[_-]?access|pre[_-]?shared|master|admin|service)[_-]?key|(?:auth|access|refresh|id|session|bearer|bot|app|deploy|personal[_-]access|client|user|push|api|oauth)[_-]?token(?!s)|[a-z]{2}_token(?!s)|client-key-data';
const WEAK_SECRET_NAME = '(?<![A-Za-z])(?:_auth|auth|token(?!s)|credentials?|cookie)';
/** Checked last, since almost any word can precede it. */
const WEAK_SECRET_NAME_END = '(?<=(?<![A-Za-z\\d_])[A-Z\\d]{1,30}(?:_[A-Z\\d]{1,30}){0,5})_KEY';
const REQUIRED_NAME_PARTS: RequiredWordGroups = [
  ['pass', 'pwd', 'secret', 'key', 'token', 'auth', 'credential', 'cookie', 'contraseña', 'kennwort'],
  [':', '='],
];
/**
 * Separators between a name and its value: `: "`, `="`, ` := \``, `\": \"`, `"] = "`, `: str = "`,
 * `>`.
 */
const NAMED_ASSIGNMENT = new RegExp(
  `(?:(${STRONG_SECRET_NAME})[\\w-]{0,20}|${WEAK_SECRET_NAME}|${WEAK_SECRET_NAME_END})(?![\\w(.[-])(?:\\\\{0,3}["'\`])?\\]?((?::[ \\t]{0,2}(?:string|String|str)(?=[ \\t]{0,2}=))?[ \\t]{0,3}[:=]=?>?[ \\t]{0,3}(?:[bfru]{1,2}(?=["']))?)((?:"""|'''|\\\\{0,3}["'\`])?)`,
  'gi',
);
const STRONG_SECRET_NAME_END = new RegExp(`(?:${STRONG_SECRET_NAME})[\\w-]{0,20}$`, 'i');
const UNQUOTED_VALUE = /[^\s"'`,;)}\]\\<>&\x1b]{1,4096}/y;
/** In an environment file, a value extends to the end of the line. */
const ENVIRONMENT_VALUE = /[^\s"'`\x1b]{1,4096}(?=[\r\n\x1b]|$|\\n)/y;
const MAX_QUOTED_CHARS = 4096;

/**
 * Every match contains at least one word of each list, ignoring case. The first list has the rarer
 * words, because the first lists of all rules are searched for together.
 */
type RequiredWordGroups = readonly (readonly string[])[];

const SECRET_OPTIONS = ['-pass', '-token', '-api', '-secret', '-access-key', '-private-key', '-credential'];

/** A pattern that finds a secret by its context. Its group `secret` is the part to mask. */
export type SecretInContextRule = readonly [held: RequiredWordGroups, pattern: RegExp];
export const SECRET_IN_CONTEXT_RULES: readonly SecretInContextRule[] = [
  // Headers
  [
    [['authorization']],
    /\bAuthorization(?:\\{0,3}["'])?[ \t]{0,3}[:=][ \t]{0,3}(?:\\{0,3}["'`])?(?:(?:Bearer|Basic|Token|ApiKey|Api-Key|SSWS|Bot|Key|Splunk)[ \t]{1,3})?(?:token=)?(?<secret>[^\s"'`\\,;]{8,})/dgi,
  ],
  [[['bearer', 'basic']], /\b(?:Bearer|Basic)[ \t]{1,4}(?<secret>(?=\S{0,200}\d)[\w.~+/=-]{8,}|[\w.~+/=-]{16,})/dgi],
  [
    [['x-'], [':']],
    /\bX-[\w-]{0,20}(?:Key|Token|Auth|Secret)[\w-]{0,10}(?:\\{0,3}["'])?[ \t]{0,3}:[ \t]{0,3}(?:\\{0,3}["'`])?(?<secret>[^\s"'`\\,;]{8,})/dgi,
  ],
  // URLs: user and password, or only a token
  [
    [['://'], ['@']],
    // A password may contain `@`; the last one precedes the host.
    /(?<=[a-z0-9+.-][a-z0-9]):\/\/[^\s:/@"'<>]{0,100}:(?<secret>[^\s@/"'<>]{1,200}(?:@[^\s@/"'<>]{1,200}){0,4})@/dgi,
  ],
  [[['://'], ['@']], /\bhttps?:\/\/(?<secret>[\w-]{20,200})@/dgi],
  [
    [['token=', 'key=', 'sig=', 'signature=', 'secret=', 'password=', 'auth=', 'code=']],
    /[?&#](?:access_token|refresh_token|id_token|token|api[_-]?key|apikey|key|sig|signature|client_secret|password|auth|code)=(?<secret>[^&\s"'<>#\\]{8,})/dgi,
  ],
  // Commands; a search ends at the next command, to stay linear.
  [
    [SECRET_OPTIONS],
    /(?:^|[\s"'])--?(?:[a-z]{1,12}-)?(?:password|passwd|passphrase|pass|token|api-?key|secret|secret-key|access-key|private-key|credential)(?:=|[ \t]{1,3})["']?(?<secret>[^\s"'\\]{4,})/dgim,
  ],
  // Argument lists; a value needs a digit and no spaces, so that descriptions of options don't
  // match.
  [
    [SECRET_OPTIONS],
    /["']--?(?:[a-z]{1,12}-)?(?:password|passwd|passphrase|pass|token|api-?key|secret|secret-key|access-key|private-key|credential)\\{0,3}["'],[ \t]{0,20}\\{0,3}["'](?<secret>(?=[^\s"'\\]{0,200}\d)[^\s"'\\-][^\s"'\\]{3,200})(?=\\{0,3}["'])/dgi,
  ],
  [
    [['curl']],
    /\bcurl\b(?:(?!curl)[^\n|;&]){0,300}?[ \t](?:-[a-zA-Z]{0,8}[uU][ \t]{0,3}|--(?:proxy-)?user[ \t=]{1,3})["']?[^\s:"']{0,100}:(?<secret>[^\s"'\\]{1,200})/dg,
  ],
  [[['sshpass']], /\bsshpass[ \t]{1,3}-p[ \t]{0,3}["']?(?<secret>[^\s"'\\]{3,200})/dg],
  [
    [['mysql', 'mariadb']],
    /\b(?:mysql|mysqldump|mysqladmin|mariadb)\b(?:(?!mysql|mariadb)[^\n|;&]){0,200}?[ \t]-p(?<secret>[^\s"'\\]{4,200})/dg,
  ],
  [
    [['redis-cli']],
    /\bredis-cli\b(?:(?!redis-cli)[^\n|;&]){0,200}?[ \t]-a[ \t]{1,3}["']?(?<secret>[^\s"'\\]{4,200})/dg,
  ],
  // Container variables: `{"name": "DB_PASSWORD", "value": …}`; lines are masked separately.
  [
    [['name'], ['value']],
    new RegExp(
      String.raw`\bname\\{0,3}["']?[ \t]{0,3}[:=][ \t]{0,3}\\{0,3}["']?[\w-]{0,60}(?:${STRONG_SECRET_NAME})[\w-]{0,20}\\{0,3}["']?,?[ \t]{0,20}\\{0,3}["']?value\\{0,3}["']?[ \t]{0,3}[:=][ \t]{0,3}\\{0,3}["']?(?<secret>(?=[^\s"'\\]{0,200}\d)[^\s"'\\,}]{6,200})`,
      'dgi',
    ),
  ],
  // Go's data sources: `user:password@tcp(host)/db`
  [[['@tcp(', '@unix(']], /(?<![\w:])[\w.-]{1,60}:(?<secret>[^\s:"'`/]{3,200})@(?:tcp|unix)\(/dg],
  [
    [['docker', 'podman', 'helm', 'az ', 'skopeo', 'buildah', 'nerdctl'], ['login']],
    /\blogin\b[^\n|;&]{0,200}?[ \t]-p[ \t=]{1,3}["']?(?<secret>[^\s"'\\]{4,200})/dg,
  ],
  [[['securestring']], /\bConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?["'](?<secret>[^"'\n]{4,200})["']/dgi],
  // Dockerfiles and fish: name and value separated by a space
  [
    [['env ', 'set -', 'arg ', 'setx ']],
    new RegExp(
      String.raw`(?:^|[\s;&\n])(?:ENV|setx|setenv|set[ \t]-[a-zA-Z]{1,4})[ \t]{1,4}[\w-]{0,60}(?:${STRONG_SECRET_NAME}|TOKEN|_KEY)[\w-]{0,20}[ \t]{1,4}["']?(?<secret>(?=[^\s"'\\]{0,200}\d)[^\s"'\\=]{8,200})`,
      'dgim',
    ),
  ],
  // PHP constants and .NET settings
  [
    [['define']],
    new RegExp(
      String.raw`\bdefine\([ \t]{0,4}["'][\w-]{0,60}(?:${STRONG_SECRET_NAME}|_KEY|_SALT)[\w-]{0,20}["'],[ \t]{0,8}["'](?<secret>[^"'\n]{4,400})["']`,
      'dgi',
    ),
  ],
  [
    [
      ['key=', 'name='],
      ['pass', 'secret', 'key', 'token'],
    ],
    new RegExp(
      String.raw`<[\w:-]{1,40}[ \t]{1,8}(?:key|name)=["'][\w:.-]{0,60}(?:${STRONG_SECRET_NAME})[\w-]{0,20}["'][ \t]{0,8}>(?<secret>(?=[^<\s]{0,200}\d)[^<\s]{6,200})<`,
      'dgi',
    ),
  ],
  [
    [['key='], ['value=']],
    new RegExp(
      String.raw`\bkey=["'][\w:.-]{0,60}(?:${STRONG_SECRET_NAME})[\w-]{0,20}["'][ \t]{1,8}value=["'](?<secret>[^"'\n]{6,400})["']`,
      'dgi',
    ),
  ],
  // Natural language
  [
    [['password ', 'passphrase ']],
    /\b(?:password|passphrase)(?: (?:for|of|to)(?: [\w.@-]{1,40}){1,4}?)?(?: is|(?<=[\w.@-] [\w.@-]{1,40}):) ["'`]?(?<secret>(?=[^\s"'`]{0,100}\d)[^\s"'`]{6,200})/dgi,
  ],
  // Short ambiguous names require a letter and a digit in the value, since tests print `PASS: `.
  [
    [
      ['pass', 'pw', 'psk'],
      [':', '='],
    ],
    /(?:(?<![A-Za-z])(?:pass|pw|PW|psk|PSK|(?:PG)?PASS(?==))|(?<=[a-z])Pass|(?<=_)(?:pw|PW))(?:\\{0,3}["'])?[ \t]{0,3}[:=][ \t]{0,3}(?:\\{0,3}["'`])?(?<secret>(?=[^\s"'`\\]{0,200}\d)(?=[^\s"'`\\]{0,200}[A-Za-z])[^\s"'`\\,;()[\]{}<>]{8,200})/dg,
  ],
  // Calls: `setPassword("…")`, `.password("…")`
  [
    [['password(', 'passwd(', 'secret(', 'apikey(', 'api_key(', 'token(']],
    /(?:password|passwd|secret|api_?key|token)\(\\{0,3}["'`](?<secret>(?=[^\s"'`\\]{0,200}\d)[^\s"'`\\]{8,200})\\{0,3}["'`]\)/dgi,
  ],
  // Input piped into a program
  [
    [['echo'], ['sudo', '--password-stdin', 'passwd']],
    /\becho[ \t]{1,3}(?:-n[ \t]{1,3})?["']?(?<secret>[^\s"'|\\]{4,200})["']?[ \t]{0,3}\|[ \t]{0,3}(?:sudo[ \t]{1,3}-S\b|(?:sudo[ \t]{1,3})?(?:ch)?passwd\b|[\w./-]{1,60}[ \t][^\n|;&]{0,120}--password-stdin)/dg,
  ],
  [[['pass:'], ['openssl']], /[ \t]-(?:passin|passout|pass|password)[ \t]{1,3}["']?pass:(?<secret>[^\s"'\\]{4,200})/dg],
  [[['storepass', 'keypass']], /-(?:(?:src|dest)?(?:store|key)pass)[ \t]{1,3}["']?(?<secret>[^\s"'\\]{4,200})/dg],
  [[['zip']], /\b(?:un)?zip\b[^\n|;&]{0,200}?[ \t]-P[ \t]{1,3}["']?(?<secret>[^\s"'\\]{4,200})/dg],
  [[['7z']], /\b7z[a-z]?\b[^\n|;&]{0,200}?[ \t]-p["']?(?<secret>[^\s"'\\]{4,200})/dg],
  [
    [['mongo']],
    /\bmongo(?:sh|dump|restore|export|import)?\b[^\n|;&]{0,200}?[ \t]-p[ \t]{1,3}["']?(?<secret>[^\s"'\\]{4,200})/dg,
  ],
  [[['ldap']], /\bldap[a-z]{3,9}\b[^\n|;&]{0,200}?[ \t]-w[ \t]{1,3}["']?(?<secret>[^\s"'\\]{4,200})/dg],
  [
    [['smbclient', 'rpcclient']],
    /\b(?:smb|rpc)client\b[^\n|;&]{0,200}?[ \t]-U[ \t]{0,3}["']?[^\s%"']{1,60}%(?<secret>[^\s"'\\]{3,200})/dg,
  ],
  [
    [['http']],
    /\bhttps?[ \t][^\n|;&]{0,200}?(?<=[ \t])(?:-a|--auth)[ \t=]{1,3}["']?[\w.@-]{1,60}:(?<secret>[^\s"'\\]{3,200})/dg,
  ],
  [
    [['sqlplus', 'thin:']],
    /(?:\bsqlplus[ \t]{1,4}(?:-\w{1,10}[ \t]{1,4}){0,3}["']?|\bthin:)[\w.-]{1,60}\/(?<secret>[^\s@/"']{3,200})@/dgi,
  ],
  [
    [['_authtoken ', '_password ', 'aws_secret_access_key ', 'aws_session_token ']],
    /(?:_authToken|_password|aws_secret_access_key|aws_session_token)[ \t]{1,4}["']?(?<secret>(?=[^\s"'\\]{0,200}\d)[^\s"'\\=:]{16,400})/dgi,
  ],
  [[['--from-literal']], /--from-literal[= \t]["']?[\w.-]{1,100}=["']?(?<secret>[^\s"'\\]{4,200})/dg],
  [
    [['gh '], ['secret']],
    /\bgh[ \t]{1,3}secret[ \t]{1,3}set\b[^\n|;&]{0,200}?[ \t](?:--body|-b)[ \t=]{1,3}["']?(?<secret>[^\s"'\\]{4,200})/dg,
  ],
  [
    [['curl'], ['-b', '--cookie']],
    /\bcurl\b(?:(?!curl)[^\n|&]){0,300}?[ \t](?:-b|--cookie)[ \t=]{1,3}["']?[\w.-]{1,60}=(?<secret>[^;\s"'\\]{8,400})/dg,
  ],
  // Rows of tables
  [
    [['password', 'passwd', 'secret', 'api'], ['|']],
    /\|[ \t*`]{0,8}(?:[\w-]{0,30}(?:password|passwd|secret)|api[_ -]?key)[ \t*`]{0,8}\|[ \t*`]{0,8}(?<secret>(?=[^\s|`]{0,200}\d)(?=[^\s|`]{0,200}[A-Za-z])[^\s|`]{8,200})[ \t*`]{0,8}(?:\||$)/dgim,
  ],
  // Files: .pgpass, XML
  [
    [[':5432', ':5433', ':6432', ':*']],
    /^[\w.*-]{1,100}:(?:5432|5433|6432|\*):[\w*-]{1,60}:[\w*.-]{1,60}:(?<secret>\S{3,200})$/dgm,
  ],
  [
    [['password>', 'passwd>', 'secret>', 'key>', 'token>']],
    /<(?:[\w-]{0,20}(?:password|passwd|secret|api[_-]?key|token))(?:\s[^<>]{0,200})?>(?<secret>[^<\s]{4,200})<\//dgi,
  ],
];

/** A .netrc entry may span several lines. */
const NETRC_ENTRY =
  /\bmachine\s{1,10}\S{1,200}\s{1,10}(?:login\s{1,10}\S{1,200}\s{1,10})?password\s{1,10}(?<secret>\S{3,200})/dg;

/** Masks only long values of `Cookie: a=…; b=…`. */
const COOKIE_HEADER =
  /\b(?:Set-)?Cookie(?:\\{0,3}["'])?[ \t]{0,3}[:=][ \t]{0,3}(?:\\{0,3}["'`])?(?<secret>[^\r\n"'`\\]{8,4096})/dgi;
const COOKIE_VALUE =
  /(?<![\w-])(?!(?:Path|Domain|Expires|Max-Age|SameSite|Priority)=)[\w.-]{1,60}=(?<secret>[^;,\s]{8,})/dgi;

const PLACEHOLDER_VALUE =
  /^(?:\$[A-Za-z_{(]|\$$|\{\{?|<|%[A-Za-z({]|\[key\]|\[?REDACTED|\*{3,}$|x{4,}$|\.{3}|…|your[-_]|process\.|os\.|env[.[(]|import\.|secrets?\.|vars?\.|null$|undefined$|none$|true$|false$|string$|change[-_]?(?:me|it|this)$|(?:pass(?:word)?|secret|example|placeholder|testtest)$)/i;

export function findNetrcSecrets(text: string, chars = WINDOW_CHARS): Slice[] {
  if (!text.includes('machine')) return [];
  const matches = findMatchesInWindows(text, NETRC_ENTRY, chars);
  return matches.map(({ secret }) => secret).filter(({ start, end }) => isNotPlaceholderValue(text.slice(start, end)));
}

interface NamedSecretSearch {
  readonly requiredWords: RequiredWordGroups;
  readonly pattern: RegExp;
  readonly read: ReadSecrets;
}

interface NamedSecretSearches {
  readonly searches: readonly NamedSecretSearch[];
  readonly wordSearch: RequiredWordSearch;
}

const compileSearches = memoizeByObject((contextRules: readonly SecretInContextRule[]): NamedSecretSearches => {
  const searches = [
    ...contextRules.map(([requiredWords, pattern]) => ({ requiredWords, pattern, read: readSecretInContext })),
    { requiredWords: [['cookie']], pattern: COOKIE_HEADER, read: readCookieSecrets },
    { requiredWords: REQUIRED_NAME_PARTS, pattern: NAMED_ASSIGNMENT, read: readAssignedSecret },
  ];
  return {
    searches,
    wordSearch: new RequiredWordSearch(searches.flatMap(({ requiredWords }) => requiredWords[0] ?? [])),
  };
});

class RequiredWordSearch {
  private readonly wordPattern: RegExp;
  /** For each word, the words that it starts with, including itself. */
  private readonly wordsByText: ReadonlyMap<string, readonly string[]>;

  constructor(words: readonly string[]) {
    const wordsLongestFirst = [...new Set(words)].sort((a, b) => b.length - a.length);
    this.wordPattern = new RegExp(
      wordsLongestFirst.map((word) => word.replace(/[$.*+?()[\]{}|\\^/]/g, '\\$&')).join('|'),
      'g',
    );
    this.wordsByText = new Map(
      wordsLongestFirst.map((word) => [word, wordsLongestFirst.filter((other) => word.startsWith(other))] as const),
    );
  }

  findWords(text: string): ReadonlySet<string> {
    const containedWords = new Set<string>();
    this.wordPattern.lastIndex = 0;
    for (let match = this.wordPattern.exec(text); match; match = this.wordPattern.exec(text)) {
      for (const word of this.wordsByText.get(match[0]) ?? []) containedWords.add(word);
      this.wordPattern.lastIndex = match.index + 1;
    }
    return containedWords;
  }
}

export function findNamedSecrets(text: string, chars = WINDOW_CHARS, contextRules = SECRET_IN_CONTEXT_RULES): Slice[] {
  const slices: Slice[] = [];
  const { searches, wordSearch } = compileSearches(contextRules);
  const searchStartByPattern = new Map<RegExp, number>();
  for (const window of splitIntoWindows(text, chars)) {
    const lowerText = getWindowWithContext(text, window).toLowerCase();
    const foundWords = wordSearch.findWords(lowerText);
    if (foundWords.size === 0) continue;
    for (const { requiredWords, pattern, read: readSecrets } of searches) {
      const [first = [], ...otherGroups] = requiredWords;
      if (!first.some((word) => foundWords.has(word))) continue;
      if (!otherGroups.every((each) => each.some((word) => lowerText.includes(word)))) continue;
      slices.push(...findNamedMatches(text, pattern, window, searchStartByPattern, readSecrets));
    }
  }
  let end = 0;
  return slices.sort(compareStart).filter((slice) => {
    if (slice.start < end) return false;
    end = slice.end;
    return true;
  });
}

type ReadSecrets = (text: string, match: WindowMatch) => { readonly secrets: readonly Slice[]; readonly end: number };

function findNamedMatches(
  text: string,
  pattern: RegExp,
  window: Slice,
  searchStartByPattern: Map<RegExp, number>,
  readSecrets: ReadSecrets,
): Slice[] {
  const secretSlices: Slice[] = [];
  let searchStart = searchStartByPattern.get(pattern) ?? 0;
  for (
    let match = findMatchInWindow(text, pattern, searchStart, window);
    match;
    match = findMatchInWindow(text, pattern, searchStart, window)
  ) {
    const { secrets, end } = readSecrets(text, match);
    secretSlices.push(...secrets);
    searchStart = end;
  }
  searchStartByPattern.set(pattern, searchStart);
  return secretSlices;
}

const readSecretInContext: ReadSecrets = (text, { secret, end }) => ({
  secrets: isNotPlaceholderValue(text.slice(secret.start, secret.end)) ? [secret] : [],
  end,
});

const readCookieSecrets: ReadSecrets = (text, { secret, end }) => {
  const values = [...text.slice(secret.start, secret.end).matchAll(COOKIE_VALUE)];
  const secrets = values.filter(([cookie]) => /\d/.test(cookie)).map(getSliceOfSecretGroup);
  return {
    secrets: secrets.map((value) => ({ start: secret.start + value.start, end: secret.start + value.end })),
    end,
  };
};

function getSliceOfSecretGroup({ index, indices }: RegExpExecArray): Slice {
  const [start, end] = indices?.groups?.['secret'] ?? [index, index];
  return { start, end };
}

/** Reads `password=…` and the like. Linear, because it never searches a value again. */
const readAssignedSecret: ReadSecrets = (text, { groups, end: start }) => {
  const [name = '', strongName, separator = '', quote = ''] = groups;
  const fieldName = name.slice(0, name.length - separator.length - quote.length).replace(/[\\"'`\]]+$/, '');
  const isEnvironment = separator === '=' && quote === '' && /^[A-Z\d_]+$/.test(fieldName);
  const end = quote ? findClosingQuote(text, start, quote) : findEndOfUnquotedValue(text, start, isEnvironment);
  const value = text.slice(start, end);
  const isSecretValue = quote
    ? isQuotedSecret(value)
    : value.length >= 8 &&
      (/\d/.test(value) || (isEnvironment && PASSWORD_NAME_END.test(fieldName))) &&
      (isEnvironment || !/[($[{<]/.test(value)) &&
      isNotPlaceholderValue(value);
  const isStrong = strongName !== undefined || STRONG_SECRET_NAME_END.test(fieldName);
  // Lowercase names that end in `_key` are usually keys of caches or tables.
  const isSecretName = isStrong || !/_key$/i.test(fieldName) || fieldName.endsWith('_KEY');
  // Shells use PWD for the folder.
  const isFolder = /pwd$/i.test(fieldName) && /^(?:[/~]|[A-Za-z]:[\\/])/.test(value);
  const secrets =
    isSecretValue && isSecretName && !isFolder && (isStrong || looksRandom(value)) ? [{ start, end }] : [];
  return { secrets, end: Math.max(end, start) };
};

/** Returns `start` if no quote follows nearby. */
function findClosingQuote(text: string, start: number, quote: string): number {
  const textAfterQuote = text.slice(start, start + MAX_QUOTED_CHARS);
  const end = textAfterQuote.indexOf(quote);
  const lineEnd = textAfterQuote.search(/[\r\n]/);
  return end < 0 || (lineEnd >= 0 && lineEnd < end) ? findEndOfUnquotedValue(text, start, false) : start + end;
}

function findEndOfUnquotedValue(text: string, start: number, isEnvironment: boolean): number {
  if (isEnvironment) {
    ENVIRONMENT_VALUE.lastIndex = start;
    const environmentValue = ENVIRONMENT_VALUE.exec(text)?.[0];
    if (environmentValue !== undefined) return start + environmentValue.length;
  }
  UNQUOTED_VALUE.lastIndex = start;
  return start + (UNQUOTED_VALUE.exec(text)?.[0].length ?? 0);
}

/** A quoted secret has no space, and a digit or symbol besides letters. */
const isQuotedSecret = (value: string): boolean =>
  value.length >= 6 &&
  !/\s/.test(value) &&
  /[\d$({<[!@#%^&*]/.test(value) &&
  isNotPlaceholderValue(value) &&
  !/\$\{|#\{|\{\{|%\(|^[\w.]+\(.*\)$/.test(value);

const isNotPlaceholderValue = (value: string): boolean => !PLACEHOLDER_VALUE.test(value);

/** Environment variables with these names contain secrets, even if the value is a word. */
const PASSWORD_NAME_END = /PASS(?:WORD|WD|PHRASE)$/;

/** Long alphanumeric values that are neither words nor IDs. */
const looksRandom = (value: string): boolean =>
  value.length >= 16 && /\d/.test(value) && /[A-Za-z]/.test(value) && !UUID.test(value);
const UUID = /^[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}$/i;
