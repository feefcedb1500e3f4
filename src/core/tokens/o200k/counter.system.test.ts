import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measureLeastCpuMs } from '../../testing';
import { createO200kCounter } from './counter';
import { expectReferenceCounts, createRandom, makeRandomText, countWithReference, rankTableBytes } from './testing';

const counter = createO200kCounter(rankTableBytes);
const root = resolve(import.meta.dirname, '../../../..');

const LOG = `2025-10-14T09:12:33.481Z [info]  worker-3 GET /api/v1/items?id=8f14e45f-ceea-467f&limit=50 200 12.7ms
npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory. Do not use it.
\u001b[31m✖\u001b[39m src/a.ts:12:7 - error TS2322: Type 'string | undefined' is not assignable to type 'string'.\r
    at Object.<anonymous> (/home/user/app/node_modules/jest-circus/build/index.js:120:30)
drwxr-xr-x  10 root root    4096 Nov 20 16:39 ..
FAILED tests/test_x.py::test_y[param-1] - AssertionError: assert 0x7ffd == 32765\n\n\n`;

const LANGUAGES = {
  English: "It's the quick brown fox that they'd said wouldn't jump over 13 lazy dogs.",
  German: 'Die Straßenbahn fährt über die Brücke; „Donaudampfschifffahrtsgesellschaft“ heißt es.',
  French: "L'été dernier, j'ai mangé du pain à la crème « chez Zoé » : c'était délicieux !",
  Spanish: '¿Qué hora es? ¡El pingüino comió jalapeños mañana por la mañana en Cádiz!',
  Portuguese: 'A ação não é só de coração; às vezes é preciso atenção às lições.',
  Italian: "Perché l'università è così lontana? Non c'è più nessuno lassù.",
  Polish: 'Zażółć gęślą jaźń, w Szczebrzeszynie chrząszcz brzmi w trzcinie.',
  Czech: 'Příliš žluťoučký kůň úpěl ďábelské ódy.',
  Hungarian: 'Árvíztűrő tükörfúrógép és nagyon hosszú összetett szavak.',
  Finnish: 'Hyvää päivää, järjestelmällistämättömyydellänsäkään ei mitään väliä.',
  Turkish: 'İstanbul’da ılık bir akşam, ŞIK GÖRÜNÜYOR; ığdır çağrısı.',
  Vietnamese: 'Tiếng Việt có nhiều dấu: người ta thường nói “được” và “không được”.',
  Greek: 'Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. ΚΑΛΗΜΈΡΑ, τι κάνεις;',
  Russian: 'Съешь же ещё этих мягких французских булок, да выпей чаю в 2025 году.',
  Ukrainian: 'Щастям б’ється їжак, ґедзь, їхній Європі під’їзд.',
  Arabic: 'السَّلامُ عليكم، كيف حالُك؟ هٰذا نصٌّ مُشَكَّل بالأرقام ١٢٣٤٥.',
  Hebrew: 'שָׁלוֹם עולם, זהו מבחן של המחשב ב־2025 עם "מירכאות" וגרש׳.',
  Persian: 'می‌خواهم کتاب‌های خوبی بخوانم؛ قیمت ۱۲۳۴ تومان است.',
  Hindi: 'नमस्ते दुनिया, यह हिन्दी में एक परीक्षण वाक्य है। क्षत्रिय ज्ञान १२३४।',
  Bengali: 'আমার সোনার বাংলা, আমি তোমায় ভালোবাসি। সংখ্যা ১২৩৪৫।',
  Tamil: 'வணக்கம் உலகம், இது தமிழில் ஒரு சோதனை வாக்கியம்.',
  Telugu: 'నమస్కారం ప్రపంచం, ఇది తెలుగు వాక్యం.',
  Thai: 'สวัสดีชาวโลก นี่คือการทดสอบภาษาไทยที่ไม่มีช่องว่างระหว่างคำ ๑๒๓',
  Khmer: 'សួស្តី​ពិភពលោក នេះជាការសាកល្បងជាភាសាខ្មែរ។',
  Burmese: 'မင်္ဂလာပါ ကမ္ဘာလောက၊ ဤသည်မှာ မြန်မာစာ ဖြစ်သည်။',
  Georgian: 'გამარჯობა მსოფლიო, ეს არის ქართული ტექსტი. ᲛᲗᲐᲕᲠᲣᲚᲘ',
  Armenian: 'Բարեւ աշխարհ, սա հայերեն նախադասություն է։',
  Amharic: 'ሰላም ለዓለም፣ ይህ የአማርኛ ዓረፍተ ነገር ነው።',
  Chinese: '你好，世界！这是一个用来测试分词器的中文句子，包含ＡＢＣ和１２３。',
  Taiwanese: '這是繁體中文的測試：臺灣「國家」圖書館，２０２５年。',
  Japanese: 'こんにちは、世界！これはトークナイザーのテストです。ｶﾀｶﾅと漢字、ー〜々も。',
  Korean: '안녕하세요, 세계! 이것은 한국어 문장입니다. ㅋㅋㅋ 각',
};

const SPECIAL = {
  empty: '',
  'one byte': 'a',
  'special tokens': 'a<|endoftext|>b <|endofprompt|><|endoftext|> <|im_start|>system<|im_end|>',
  'names of Object.prototype': 'toString __proto__ constructor hasOwnProperty valueOf',
  emoji: '😀😃 👩‍👩‍👧‍👦 👨🏿‍🚀 🏳️‍🌈 🇩🇪🇫🇷 1️⃣ ❤️‍🔥 ☺︎ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 😀a 👍🏽.\n',
  'half surrogate pairs': '\ud83d a\ud83d\ud83d\ude00\ude00b \udfff\ud800x \ud800',
  'byte order marks': '\ufeffa \ufeff\ufeff b\ufeff\n\ufeff',
  'control characters': '\0\0\x01\x1b[0m\x7f\u0085\u009f\b\f\v',
  minified:
    '!function(e,t){"object"==typeof exports?t(exports):t((e=e||self).x={})}(this,function(e){var n=1e3,r=/[\\/]+/g;',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  table: '| a   |  b |\n|-----|:--:|\n|  1  | ✓  |\n\n---\n\n***\n====================\n',
  'runs of one kind': [' ', 'a', '-', '\n', '漢', '\t', '=', '0', '.', '_'].map((c) => c.repeat(150)).join('x '),
  'CRLF code': 'if (a) {\r\n\treturn;\r\n}\r\n\r\n\r\n  // done\r\n',
};

describe('the o200k token counter agrees with js-tiktoken on', () => {
  it.each(Object.entries({ ...LANGUAGES, ...SPECIAL, log: LOG }))('a text with %s', (_, text) => {
    expect(counter.count(text)).toBe(countWithReference(text));
    const upper = text.toUpperCase();
    expect(counter.count(upper)).toBe(countWithReference(upper));
    for (let length = 0; length < Math.min(text.length, 200); length += 7) {
      expect(counter.count(text.slice(length)), text.slice(length)).toBe(countWithReference(text.slice(length)));
      expect(counter.count(text.slice(0, length))).toBe(countWithReference(text.slice(0, length)));
    }
  });

  it('code, also shifted by one character', () => {
    const code = readFileSync(join(root, 'node_modules/axe-core/axe.js'), 'utf8').slice(0, 250_000);
    const texts = [code, code.slice(1), code.replaceAll('\n', '\r\n'), code.replaceAll('    ', '\t')];
    expectReferenceCounts(counter, texts, '72ef61f909c374c45f0069accd7e1ab16b987fa69d358001e27a0b2be9e92e8d');
  });

  it('logs with numbers, paths and hashes', () => {
    const random = createRandom(11);
    const line = (i: number) =>
      `2025-${String(random(12) + 1)}-14T09:${i % 60}:33.${random(1000)}Z [${['info', 'WARN', 'ERROR'][i % 3]!}] ` +
      `req=${random(2 ** 31).toString(16)}-${random(2 ** 31).toString(36)} /usr/lib/x86_64/${random(99)}.so.${i} +${random(9e5)}ms\n`;
    const log = Array.from({ length: 4000 }, (_, i) => line(i)).join('');
    expectReferenceCounts(counter, [log], 'be1e11f1a1779bbc0a0def69d08233b19453f7cde54bb24b627e8b68c662b44b');
  });

  it("axe's messages in more than 20 languages", () => {
    const folder = join(root, 'node_modules/axe-core/locales');
    const locales = readdirSync(folder).filter((name) => name.endsWith('.json'));
    expect(locales.length).toBeGreaterThan(20);
    const texts = locales.map((name) => readFileSync(join(folder, name), 'utf8').slice(0, 15_000));
    expectReferenceCounts(counter, texts, '02a07d2e60dd4371cd486771174c92cfcaf35f0e3b0c1bee825274a3beed0b8c');
  });

  it('every kind of code point, alone and next to letters', () => {
    // The scanner's test covers each class, so here one in five blocks of 64 characters is enough
    // for the large ranges.
    const texts: string[] = [];
    for (let from = 0; from < 0x30000; from += from < 0x3400 || (from >= 0xa000 && from < 0xac00) ? 64 : 320) {
      const chars = Array.from({ length: 64 }, (_, i) => String.fromCodePoint(from + i));
      texts.push(chars.map((char) => `${char} a${char}B ${char}1`).join('\n'));
    }
    expectReferenceCounts(counter, texts, '71100ab186387629b10cf824f5d2b926357422607155da8abe90a7bd7f8d7def');
  });

  it('100,000 random texts', () => {
    const random = createRandom(2);
    const texts = Array.from({ length: 100_000 }, () => makeRandomText(random));
    expectReferenceCounts(counter, texts, '2bd93a3ce4da2bcd3d79ee9575e1db2778bb25dfe0ae6a62a99e9e217bb8caa4');
  });
});

describe('the o200k token counter', () => {
  it('gives the same count whatever the size of its chunks', () => {
    const random = createRandom(6);
    const texts = Array.from({ length: 3000 }, () => makeRandomText(random) + makeRandomText(random));
    texts.push(Object.values({ ...LANGUAGES, ...SPECIAL }).join('\n'));
    for (const chunk of [1, 3, 13, 64]) {
      const small = createO200kCounter(rankTableBytes, chunk);
      for (const text of texts) expect(small.count(text), JSON.stringify(text)).toBe(counter.count(text));
    }
  });

  // js-tiktoken would take minutes to hours for these, so the values are from tiktoken 0.14 for
  // Python.
  it.each([
    ['a', 2500],
    [' ', 157],
    ['-', 312],
    ['\n', 1250],
    ['=', 312],
    ['ab', 5000],
    ['漢', 20_000],
    ['的', 20_000],
    ['é', 20_000],
    ['0', 6667],
  ])('counts 20,000 characters of %j correctly', (unit, tokens) => {
    expect(counter.count(unit.repeat(20_000 / unit.length))).toBe(tokens);
  });

  it('merges repeated text only once', () => {
    const random = createRandom(4);
    const letters = Array.from({ length: 400_000 }, () => String.fromCharCode(97 + random(26)));
    const [same, other] = ['a'.repeat(400_000), letters.join('')];
    const ofSame = measureLeastCpuMs(() => counter.count(same));
    expect(ofSame).toBeLessThan(measureLeastCpuMs(() => counter.count(other)) / 4);
    expect(counter.count(same)).toBe(50_000);
  });

  it('does not depend on the text before', () => {
    const text = 'The same text, counted anew: getURLFor(x) — 漢字漢字';
    const tokens = counter.count(text);
    counter.count('something else\n'.repeat(5000) + 'x'.repeat(5000));
    expect(counter.count(text)).toBe(tokens);
  });
});
