/** Article 1 of the Universal Declaration of Human Rights, in scripts and languages that differ most for tokenizers. */
const DECLARATION: Readonly<Record<string, string>> = {
  English:
    'All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.',
  German:
    'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.',
  French:
    'Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.',
  Polish:
    'Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.',
  Turkish:
    'Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.',
  Vietnamese:
    'Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hoá ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình bằng hữu.',
  Russian:
    'Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.',
  Greek:
    'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.',
  Hebrew:
    'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.',
  Arabic:
    'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.',
  Hindi:
    'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।',
  Thai: 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ',
  Chinese: '人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。',
  'traditional Chinese': '人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神相對待。',
  Japanese:
    'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。',
  Korean:
    '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.',
};

/** Languages whose names of countries and languages the platform knows: dense text, all of it proper nouns. */
const LANGUAGES =
  'en de fr es it pl cs tr vi fi hu ro ru uk bg el he ar fa ur hi mr bn ta te th ko ja zh zh-Hant ka hy km lo am gu si pa';
const CODES =
  'AR AT BE BR CA CH CN DE DK EG ES ET FI FR GB GE GR HU ID IL IN IR IS IT JP KE KH KR MA MM MX NG NL NO NP NZ';

const TYPESCRIPT = `export async function readAll<T>(source: AsyncIterable<T>, { limit = 100 } = {}): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) {
    if (items.length >= limit) throw new RangeError(\`more than \${limit} items\`);
    items.push(item); // keeps the order
  }
  return items.filter((item) => item !== undefined && !Number.isNaN(item));
}
`;
const PYTHON = `class HttpRetry(Exception):
    def __init__(self, attempts: int, *, delay_ms=250):
        super().__init__(f"abandoned after {attempts} attempts")
        self.delay_ms = delay_ms

    @property
    def total(self):
        return sum(self.delay_ms * 2 ** i for i in range(self.attempts))
`;
const C = `static int cmp_str(const void *a, const void *b) {
\treturn strcmp(*(char *const *)a, *(char *const *)b);
}
#define MAX(a, b) ((a) > (b) ? (a) : (b))
for (size_t i = 0; i < len; i++) { buf[i] ^= 0xff & (key >> (8 * (i % 4))); }
`;
const SQL = `SELECT u.id, COUNT(*) AS runs FROM users u LEFT JOIN run r ON r.user_id = u.id
WHERE r.created_at > '2026-01-01' AND r.status IN ('failed', 'cancelled') GROUP BY u.id HAVING COUNT(*) > 3;
`;

/** A sample text of each kind that a message may contain, by name: the same at each call. */
export function sampleTexts(): Record<string, string> {
  return { ...naturalTexts(), ...codeTexts(), ...encodedTexts(), ...hostileTexts() };
}

function naturalTexts(): Record<string, string> {
  const names = LANGUAGES.split(' ').map((language) => {
    const regions = new Intl.DisplayNames(language, { type: 'region' });
    const languages = new Intl.DisplayNames(language, { type: 'language' });
    const words = [
      ...CODES.split(' ').map((code) => regions.of(code)),
      ...LANGUAGES.split(' ').map((code) => languages.of(code)),
    ];
    return [`names in ${language}`, words.join(', ')];
  });
  const dates = LANGUAGES.split(' ').map((language) => {
    const format = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long', timeZone: 'UTC' });
    return [`dates in ${language}`, times(40, (i) => format.format(i * 8e10)).join('\n')];
  });
  return { ...DECLARATION, ...(Object.fromEntries([...names, ...dates]) as Record<string, string>) };
}

function codeTexts(): Record<string, string> {
  const records = times(50, (i) => ({
    id: i * 7919,
    name: `item-${i}`,
    tags: ['a', 'b_c'],
    ok: i % 2 === 0,
    at: null,
  }));
  return {
    TypeScript: TYPESCRIPT,
    Python: PYTHON,
    C,
    SQL,
    JSON: JSON.stringify(records),
    'indented JSON': JSON.stringify(records, null, 2),
    HTML: times(20, (i) => `<li class="row-${i}"><a href="/items/${i}?q=x&amp;p=2">Item №${i}</a></li>`).join('\n'),
    Markdown:
      '| name | count |\n| --- | ---: |\n| `a_b` | **12** |\n\n## Heading\n\n- [link](https://example.com/a-b/c)\n',
    identifiers: 'getUserByName HTTPServerError max_buf_len kebab-case-name XMLHttpRequest __init__ PATH_MAX iOS',
    URLs: times(30, (i) => `https://example${i}.com/v1/users/${i * 31}/posts?page=${i}&sort=asc#top`).join('\n'),
  };
}

function encodedTexts(): Record<string, string> {
  const bytes = Buffer.from(times(3000, noise));
  return {
    base64: bytes.toString('base64'),
    hex: bytes.toString('hex'),
    'capital hex': bytes.toString('hex').toUpperCase(),
    digits: times(3000, (i) => noise(i) % 10).join(''),
    numbers: times(500, (i) => (noise(i) * 7919) % 100_003).join(' '),
    'single digits': times(500, (i) => noise(i) % 10).join(' '),
    decimals: times(500, (i) => (noise(i) / 7).toFixed(3)).join(', '),
    ISO: times(100, (i) => new Date(i * 1e10).toISOString()).join(' '),
    'small letters': letters('abcdefghijklmnopqrstuvwxyz'),
    'capital letters': letters('ABCDEFGHIJKLMNOPQRSTUVWXYZ'),
    'mixed letters': letters('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'),
    punctuation: letters('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'),
    whitespace: letters(' \t\n\r'),
    emoji: ['👨‍👩‍👧‍👦', '🏳️‍🌈', '👍🏽', '🇩🇪', '❤️', '😀', '🧑🏿‍🚀', '✅', '🔥', '1️⃣'].join('').repeat(20),
  };
}

function hostileTexts(): Record<string, string> {
  const characters = times(0x80, (code) => String.fromCharCode(code));
  const repeated = characters.map((character) => [`${JSON.stringify(character)} repeated`, character.repeat(1000)]);
  return {
    ...(Object.fromEntries(repeated) as Record<string, string>),
    'ab repeated': 'ab'.repeat(1000),
    'special tokens': '<|endoftext|><|im_start|>system<|im_sep|>'.repeat(50),
    'line ends': '\r\n'.repeat(500),
    'sign and line end': '\n/'.repeat(500),
    'any Han': times(1000, (i) => String.fromCharCode(0x4e00 + ((i * 7919) % 20_000))).join(''),
    'any Hangul': times(1000, (i) => String.fromCharCode(0xac00 + ((i * 7919) % 11_000))).join(''),
    'BMP without private use': times(1000, (i) => String.fromCharCode(0x80 + ((i * 7919) % 55_000))).join(''),
    'half pairs': '\ud83d'.repeat(500),
  };
}

function letters(alphabet: string): string {
  return times(4000, (i) => alphabet[noise(i) % alphabet.length]).join('');
}

/** 0 to 255, evenly, and never the same way twice in a row. */
function noise(i: number): number {
  let value = Math.imul(i + 1, 0x9e37_79b1);
  value = Math.imul(value ^ (value >>> 15), 0x85eb_ca6b);
  return (value ^ (value >>> 13)) >>> 24;
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
