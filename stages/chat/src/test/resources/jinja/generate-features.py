#!/usr/bin/env python3
"""Writes features.json: small templates of one feature each, with the text that transformers renders, or "refused".

usage: python generate-features.py > features.json     with jinja2 3.1 and Python 3.11, set up as transformers 5.18 does
"""
import copy
import datetime
import json
import sys
from contextlib import suppress

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(jinja2.ext.Extension):
    """{% generation %} as in transformers/utils/chat_template_utils.py, without its record of places."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("text"), [], [], body).set_lineno(line)

    def text(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


NOW = datetime.datetime(2026, 11, 27, 9, 5)  # as in JinjaFeaturesTest
ENVIRONMENT = environment()


def rendered(template, chat):
    """The text, or None where transformers fails."""
    try:
        text = ENVIRONMENT.from_string(template).render(**{"tools": None, "documents": None, "add_generation_prompt": False, **chat})
        text.encode()
        return text
    except Exception:
        return None


CHAT = {
    "messages": [
        {"role": "system", "content": "Be terse."},
        {"role": "user", "content": "Hi <b>&\n'you' \"there\" é 😀"},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "now", "arguments": {"zone": "UTC", "n": 1, "f": 1e-05, "t": True}}}]},
        {"role": "user", "content": [{"type": "text", "text": "part"}, {"type": "image"}]},
    ],
    "n": 7,
    "x": 2.5,
    "big": 123456789012345678901234567890,
    "words": ["pear", "Apple", "fig", "apple"],
    "nested": {"b": {"c": [1, 2, {"d": "deep"}]}, "a": None, "items": 3},
    "rows": [{"k": "x", "v": 2}, {"k": "y", "v": 1}, {"k": "x", "v": 3}],
    "empty": "",
    "bos_token": "<s>",
}

EXPRESSIONS = r"""
n+1
messages|length+1
n - 1 - 1
-7 % 3
-7 // 2
7 // -2
7.5 // 2
-7.5 % 2
2 ** -1
2 ** 10
2 ** 3 ** 2
-2 ** 2
10 / 4
10 / 5
1 / 3
0.1 + 0.2
1e16
1e15 * 10
123456789.0 * 1000
1e-05
5e-324
1.0
big * big
10 ** 30
1_000 + 0x1f + 0b11 + 0o17
true + 1
'9' * 3
'-' * 10
3 * 'ab'
[1] * 3
[1] + [2]
(1, 2) + (3,)
'a' 'b' "c"
'a' ~ 1 ~ none ~ true ~ [1]
'\u00e9\n\x41\q'
'tab\there'
1 < 2 < 3
1 < 3 < 2
1 == 1.0 == true
'1' == 1
'a' < 'b'
[1, 2] < [1, 3]
1 in [1, 2]
3 not in [1, 2]
'a' in 'abc'
'b' in {'b': 1}
none in [none]
not true
not n is defined
not missing is defined
n is not defined
missing is not defined
1 and 2
0 and 2
0 or 'b'
'' or none
not 1 == 2
true and not false or false
'yes' if n > 5 else 'no'
'yes' if n > 50
('a' if false) is defined
none
true
none, true, 1.50
[none, true, 'it', "it's", 'q"q', 'b"\'']
{'a': 1, 'b': [1, (2,), {}]}
()
(1,)
nested
nested.items is callable
nested['items']
nested.items()
nested.keys()
nested.values()|list
nested.b.c[2].d
nested.b.c[-1]['d']
nested.b.c.0
nested.missing
nested.missing.more
missing
missing.more
missing + 1
missing|default('d')
none|default('d')
none|default('d', true)
''|d('d', boolean=true)
'abc'[0]
'abc'[-1]
'abc'[5]
'abc'[1:]
'abcdef'[::2]
'abcdef'[::-1]
'abcdef'[-3:-1]
'abcdef'[4:1:-1]
[1, 2, 3][::-1]
[1, 2, 3, 4][1:3]
(1, 2, 3)[1:]
range(5)[1:3]|list
range(3)
range(2, 10, 3)|list
range(5, 0, -2)|list
range(100000)|length
range(100001)|length
'😀é'|length
'a😀b'[1]
messages[1].content[-1]
'  a b '.strip() ~ '|'
'\u00a0a\u3000'.strip() ~ '|'
'xxaxx'.strip('x')
'xxaxx'.lstrip('x')
'xxaxx'.rstrip('x')
'a b  c'.split()
'a,b,,c'.split(',')
'a,b,c'.split(',', 1)
'a,b,c'.rsplit(',', 1)
'a\u0085b\u00a0c'.split()
'a\nb\r\nc\u2028d'.splitlines()
'a\nb'.splitlines(true)
'abc'.startswith('ab')
'abc'.startswith(('x', 'a'))
'abc'.endswith('bc', 1)
'aXb'.upper() ~ 'aXb'.lower()
'straße'.upper()
'hello wORLD'.title()
"they're bill's".title()
'hello wORLD'|title
'hELLO'.capitalize()
'aaa'.replace('a', 'b', 2)
'aaa'|replace('a', 'b', 2)
'abc'.replace('', '-')
'abcabc'.find('c')
'abcabc'.rfind('c')
'abcabc'.find('z')
'abcabc'.index('z')
'abcabc'.count('bc')
', '.join(['a', 'b'])
', '.join([1])
'a-b'.partition('-')
'a-b-c'.rpartition('-')
'12'.isdigit()
'²'.isdigit()
'²'.isdecimal()
'ab1'.isalnum()
'ab'.isalpha()
' \n'.isspace()
'ab'.islower()
'Ab Cd'.istitle()
'7'.zfill(3)
'a'.center(6) ~ '|'
'a'.ljust(4, '.') ~ 'a'.rjust(4, '.')
'prefix-x'.removeprefix('prefix-')
'aBc'.swapcase()
'a\tb'.expandtabs(4)
'{} {}'.format(1, 'a')
'{1} {0}'.format(1, 'a')
'{a[b]} {c.d}'.format(a={'b': 1}, c={'d': 2})
'{:>6}|{:<6}|{:^6}|{:06.2f}'.format('a', 'b', 'c', 3.14159)
'{:,} {:x} {:+d} {:e}'.format(1234567, 255, 5, 12345.678)
'{!r} {!s}'.format('a', 'b')
'{{}}'.format()
'{'.format(1)
'%s and %d' % ('a', 5)
'%s' % none
'%r' % 'a'
'%5.1f|%-5d|%05d|%x|%o' % (3.14159, 42, 42, 255, 8)
'%(a)s' % {'a': 1}
'%s %s' % 'a'
'%d' % 'a'
'%%'|format
'%s, %s'|format('a', 1)
1 + none
'a' + none
'a' + 1
'a' + ['b']
messages[2].content + 'x'
messages[3].content + 'x'
[1] + (2,)
1 / 0
{}['a']
{'a': 1}['b'] is defined
{1: 'int', 1.0: 'float', true: 'bool'}
{'a': 1, 'a': 2}
{[1]: 2}
nested|tojson
nested|tojson(indent=2)
[1, {'a': []}, {}]|tojson(indent=4)
{'b': 1, 'a': 2}|tojson(sort_keys=true)
{'a': [1, 2]}|tojson(separators=(',', ':'))
'é😀\u001b\u007f"\\'|tojson
'é😀\u001b\u007f"\\'|tojson(ensure_ascii=true)
[1e-05, 12345678.0, 1e20, 1.5, 1e16, -0.0]|tojson
{1: 1, none: 2, true: 3, 1.5: 4}|tojson
'a'|tojson(true)
missing|tojson
messages[2].tool_calls|tojson
range(2)|tojson
(1, 2)|tojson
words|sort
words|sort(reverse=true)
words|sort(case_sensitive=true)
rows|sort(attribute='v')|map(attribute='v')|list
rows|sort(attribute='k,v')|map(attribute='v')|join
[3, 'a']|sort
{'b': 1, 'A': 2}|dictsort
{'b': 1, 'A': 2}|dictsort(by='value', reverse=true)
words|unique|list
rows|map(attribute='k')|unique|join(',')
rows|groupby('k')|length
rows|groupby('k')
rows|map('tojson')|join('|')
rows|map(attribute='missing', default='-')|join
words|map('upper')|join(' ')
words|map('replace', 'p', 'b')|list
[1, 2, 3, 4]|select('odd')|list
[1, 2, 3, 4]|reject('odd')|list
[0, 1, '', 'a']|select|list
rows|selectattr('v', 'gt', 1)|list|length
rows|selectattr('k', 'equalto', 'x')|map(attribute='v')|list
rows|rejectattr('k', '==', 'x')|first
messages|selectattr('tool_calls', 'defined')|list|length
messages|map(attribute='role')|list
[1, 2]|map('nosuch')|list
words|first ~ words|last
[]|first
(words|map('upper'))|last
words|reverse|list
'abc'|reverse
words|join(', ')
rows|join(',', attribute='k')
[1, none, true]|join('-')
words|length ~ words|count
nested|length
7|length
'abc'|list
{'a': 1}|list
{'a': 1, 'b': 2}|items|list
missing|items|list
[1]|items|list
[1, 5, 3]|max ~ [1, 5, 3]|min
words|max
[]|max
rows|max(attribute='v')
[1, 2, 3.5]|sum
rows|sum(attribute='v')
['a']|sum
[1, 2, 3, 4, 5]|batch(2)|list
[1, 2, 3]|batch(2, 0)|list
[1, 2, 3, 4, 5]|slice(2)|list
[1, 2, 3]|slice(2, 0)|list
' a '|trim ~ '|'
'xax'|trim('x')
'\u3000a\u0085'|trim ~ '|'
42.55|round
42.55|round(1)
2.5|round
42|round
42.55|round(1, 'floor')
42.51|round(method='ceil')
'42'|int + 1
'42.7'|int
'x'|int
'x'|int(-1)
'0x1f'|int(base=16)
none|int
3.99|int
'1.5'|float
'x'|float
'nan'|float
-5|abs
5|string ~ 'a'
none|string
'a b c'|wordcount
'hello world foo'|truncate(9)
'hello world foo'|truncate(9, true)
'a\nb\n\nc'|indent
'a\nb'|indent(2, true)
'a\nb'|indent('> ', first=true)
'a'|center(5) ~ '|'
1000|filesizeformat
13500000|filesizeformat
1024|filesizeformat(true)
'a b/c?'|urlencode
{'a': 'b c', 'd': 1}|urlencode
'<a&"\'>'|e
'<a>'|safe
('<a>'|safe) + '<b>'
'<a>'|escape|escape
'<a>'|safe|forceescape
{'a': 1}|attr('items') is callable
'abc'|attr('nosuch') is defined
{'a': 1}|attr('a') is defined
'x'|nosuch
1 if true else ('x'|nosuch)
n is odd
n is even
n is divisibleby 7
n is divisibleby(2)
n is number
true is number
x is float
n is integer
true is integer
true is boolean
none is none
n is none
'a' is string
words is string
'Hi' is iterable
n is iterable
words is sequence
nested is sequence
nested.keys() is sequence
'Hi' is sequence
missing is sequence
nested is mapping
'a' is mapping
nested.a is defined
nested.a is none
nested.nosuch is defined
'ABC' is upper
'abc' is lower
1 is eq 1
1 is lt(2)
2 is in [1, 2]
true is true
1 is true
true is sameas true
range is callable
n is callable
'upper' is filter
'nosuch' is filter
'odd' is test
n is nosuch
namespace(a=1).a
namespace(a=1)['a']
namespace({'a': 1}, b=2).b
namespace(a=1)
namespace().x is defined
dict(a=1, b=2)
dict([('a', 1)])
dict({'a': 1}, a=2)
''.__class__
''.__class__.__mro__
nested.__class__ is defined
[].append(1)
nested.update({'x': 1})
nested.pop is defined
nested.get('b').c[0]
nested.get('z', 'd')
nested.get('z')
nested.copy() == nested
[1, 2, 1].count(1)
[1, 2].index(2)
[1, 2].index(3)
(1, 2, 1).count(1)
x.is_integer()
n.bit_length()
tools is defined
tools
tools is none
documents is none
add_generation_prompt
raise_exception('no')
cycler('a', 'b').next()
joiner()()
[1, 2, 3] is eq [1, 2, 3]
{'a': 1} == {'a': 1.0}
(1, 2) == [1, 2]
missing == missing2
missing != 1
missing < 1
none < 1
'a' < 1
1e400
-1e400
(1e400 - 1e400)|string
10 ** 400 / 1
'a' is sameas 'b'
'%c%c' % (65, 'b')
'İ'.lower()|length
'ΑΣ'.lower()
'1Σ ΑΣ Α.Σ ΣΑ'.lower()
'1Σ ΑΣ'.title() ~ '1Σ ΑΣ'.capitalize() ~ 'ας Σ'.swapcase()
'ᾈ'.title()
'a b  '.split(none, 1)
'  a b'.rsplit(none, 1)
'\u001c1'|int ~ '\u00a01'|int ~ '\u0663'|float
'%#g %#.0g' % (255.0, 1)
[] is filter
(7.25 ** 11) is number
'{:,} {:_} {:9,}'.format(1234567, 1234567.5, 1234)
'{:.3} {:#x} {:^9.1%}'.format(3.14159, 255, 0.256)
'ﬁ'.upper()
'ǆ'.title()
'a' if 'a' is defined and 'b' == 'b' else 'c'
[1, 2, 3,]
{'a': 1,}
(1 + 2) * 3
1 + 2 * 3
1 ~ 2 + 3
'a' ~ 'b' == 'ab'
- n + + n
--n
n|abs + 1
-n|abs
not n
n and x
x or n
[n, x]|map('string')|join('/')
words[1:]|first|upper
words|map('length')|sum
loop
self
caller
_
""".strip("\n").split("\n")

STATEMENTS = [
    "{% for w in words %}{{ w }},{% endfor %}",
    "{% for w in words if w|length > 3 %}{{ loop.index }}{{ w }}{{ loop.last }} {% endfor %}",
    "{% for k, v in nested.items() if k != 'a' %}{{ k }}={{ v }};{% endfor %}",
    "{% for k, v in {'a': 1}|items %}{{ k }}={{ v }}{% endfor %}",
    "{% for k in nested %}{{ k }}{% endfor %}",
    "{% for w in [] %}x{% else %}none{% endfor %}",
    "{% for w in missing %}x{% else %}none{% endfor %}",
    "{% for w in [1] %}{% continue %}{% else %}none{% endfor %}",
    "{% for w in words %}{% if loop.index == 3 %}{% break %}{% endif %}{{ w }}{% endfor %}",
    "{% for w in words %}{% if w == 'fig' %}{% continue %}{% endif %}{{ w }}{% endfor %}",
    "{% for w in words %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.length }} {% endfor %}",
    "{% for w in words %}{{ loop.previtem }}<{{ w }}>{{ loop.nextitem }} {% endfor %}",
    "{% for w in words %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }}{% endfor %}",
    "{% for w in words %}{{ loop.cycle('a', 'b', 'c') }}{% endfor %}",
    "{% for w in [1, 1, 2] %}{{ loop.changed(w) }}{% endfor %}",
    "{% for w in [1, [2, [3]], 4] recursive %}{% if w is iterable %}({{ loop(w) }}){{ loop.depth }}{% else %}{{ w }}{{ loop.depth0 }}{% endif %}{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3)), [4, '56']] %}{{ a }}{{ b }}{{ c }} {% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{{ a }}{% endfor %}",
    "{% for i in range(3) %}{% for j in range(i) %}{{ loop.index }}{{ i }}{{ j }} {% endfor %}{{ loop.index }}{% endfor %}",
    "{% for c in 'a😀b' %}[{{ c }}]{% endfor %}",
    "{% for x in 5 %}{% endfor %}",
    "{% for i in range(1500) %}{% if loop.last %}{{ loop.index }}{% endif %}{% endfor %}",
    "{% for w in words|map('upper') %}{{ w }}{{ loop.length }}{% endfor %}",
    "{{ loop is defined }}{% for loop in [1] %}{% endfor %}",
    "{% for w in words %}{{ loop }}{% endfor %}",
    "{% for w in words %}{% endfor %}{{ w is defined }}",
    "{% set a = 1 %}{% for w in words %}{{ a }}{% set a = a + 1 %}{{ a }}{% endfor %}{{ a }}",
    "{% set a = 1 %}{% if true %}{% set a = 2 %}{% endif %}{{ a }}",
    "{% if false %}{% set n = 2 %}{% endif %}{{ n }}",
    "{% for w in [1] %}{{ n }}{% endfor %}{% set n = 1 %}{{ n }}",
    "{{ n }}{% set n = 1 %}{{ n }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "{% set (a, b) = [1, 2] %}{{ a }}{{ b }}",
    "{% set a, b = 1 %}",
    "{% set a %}x{{ n }}{% endset %}{{ a }}{{ a is string }}",
    "{% set a | upper | replace('X', 'y') %}x{{ n }}{% endset %}{{ a }}",
    "{% set ns = namespace(c=0) %}{% for w in words %}{% set ns.c = ns.c + 1 %}{% endfor %}{{ ns.c }}",
    "{% set ns = namespace() %}{% set ns.a, ns.b = 1, 2 %}{{ ns.a }}{{ ns.b }}",
    "{% set n.a = 1 %}",
    "{% set nested.z = 1 %}",
    "{% set ns = namespace() %}{% set ns.a %}t{% endset %}{{ ns.a }}",
    "{% set true = 1 %}",
    "{% if n > 5 %}a{% elif n > 3 %}b{% else %}c{% endif %}",
    "{% if empty %}a{% elif missing %}b{% elif words %}c{% endif %}",
    "{% if not empty and n is defined %}a{% endif %}",
    "{% if n in [7], 1 %}a{% endif %}",
    "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}",
    "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}",
    "{% with n = 1 %}{{ n }}{% endwith %}{{ n }}",
    "{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, b=3) }}{{ f(b=1) }}",
    "{% macro f(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, x=4) }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(b=2) }}",
    "{% macro f(a) %}{{ a is defined }}{% endmacro %}{{ f() }}",
    "{% macro f(a, b=a) %}{{ b }}{% endmacro %}{{ f(1) }}",
    "{% macro f(n) %}{{ n }}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
    "{% macro f() %}{{ n }}{{ q }}{% endmacro %}{% set q = 1 %}{{ f() }}",
    "{% macro f() %}{% set q = 2 %}{{ q }}{% endmacro %}{% set q = 1 %}{{ f() }}{{ q }}",
    "{% macro f() %} {{ caller() }} {% endmacro %}{% call f() %}in{% endcall %}",
    "{% macro f() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) f() %}{{ a }}-{{ b }}{% endcall %}",
    "{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}",
    "{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f }}{{ f.name }}{{ f.arguments }}",
    "{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f('a')|upper }}{{ f('a') + 'b' }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(*[1]) }}{{ f(**{'a': 2}) }}",
    "{% call n() %}{% endcall %}",
    "{% filter upper %}a{{ 'b' }}{% endfilter %}",
    "{% filter replace('a', 'b')|upper %}aa{% endfilter %}",
    "{% print 1, 'a' %}",
    "{% raw %}{{ x }}{% if %}{% endraw %}",
    "a{%- raw -%} {{ x }} {%- endraw -%} b",
    "{# comment {{ x }} #}a",
    "a {#- c -#} b",
    "a\n  {% if true %}\n  b\n  {% endif %}\nc\n",
    "a\n  {%+ if true %}\n  b\n  {%+ endif +%}\nc\n",
    "a\n  {%- if true -%}\n  b\n  {%- endif -%}\nc\n\n",
    "a\n  {{ 1 }}\n  {{- 2 }}\n  {{ 3 -}}\n b",
    "  {% set a = 1 %}  {% set b = 2 %}\nx",
    "  {# c #}  \n  {# d #}\nx\r\ny\rz",
    "{{ '{{ 1 }}' }}{{ '%}' }}",
    "{% if true %}\n\n{% endif %}\n\n",
    "x\n\n",
    "{{ {'a': {'b': 1}}['a']['b'] }}",
    "{{ {'a': 1}}}",
    "{{ 'a' }",
    "{% if true %}",
    "{% endif %}",
    "{% nosuch %}",
    "{% for %}",
    "{{ }}",
    "{{ 1 2 }}",
    "{{ 'a }}",
    "{{ (1 }}",
    "{{ [1} }}",
    "{{ a is b is c }}",
    "{{ 1 ! 2 }}",
    "{{ 007 }}",
    "{% break %}",
    "{% if n %}{{ 'x'|nosuch }}{% endif %}",
    "{% if not n %}{{ 'x'|nosuch }}{% endif %}ok",
    "{% include 'x' %}",
    "{% import 'x' as y %}",
    "{% extends 'x' %}",
    "{% generation %}a{{ n }}{% endgeneration %}b",
    "{% generation %}{% set z = 1 %}{{ z }}{% endgeneration %}{{ z is defined }}",
    "{% for m in messages %}{% generation %}{{ m.role }}{% endgeneration %}{% endfor %}",
    "{% for m in messages %}{% generation %}{% break %}{% endgeneration %}{% endfor %}",
    "{% for m in messages[::-1] %}{{ m.role[0] }}{% endfor %}",
    "{{ messages[0].content }}{{ messages[0]['role'] }}{{ messages[-1].content[0].text }}",
    "{{ messages[2].content }}{{ messages[2].content is none }}{{ messages[2].content is defined }}",
    "{{ messages[3].content }}",
    "{% for m in messages %}{{ m.content if m.content is string else m.content|length if m.content else 'none' }};{% endfor %}",
    "{{ bos_token + messages[0].role }}",
    "{{ messages[1].content }}",
    "{% set x = messages[1].content.split('\\n') %}{{ x }}",
    "{{ messages }}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.next() }}",
    "{% set j = joiner('; ') %}{% for w in words %}{{ j() }}{{ w }}{% endfor %}",
    "{% set it = words|map('upper') %}{{ it|list|length }}{{ it|list|length }}",
    "{% set a = [1, 2] %}{% set b = a + [3] %}{{ a }}{{ b }}",
    "{% set d = dict(nested, z=1) %}{{ d.z }}{{ nested.z is defined }}",
    "{% for g in rows|groupby('k') %}{{ g.grouper }}{{ g.list|length }}{% for r in g[1] %}{{ r.v }}{% endfor %} {% endfor %}",
    "{%- for m in messages -%}\n  {%- if m.role == 'user' -%}\n  U\n  {%- else -%}\n  O\n  {%- endif -%}\n{%- endfor -%}\n",
    "{% for k, v in rows if k %}{{ loop.previtem }}{% endfor %}",
    "{{ dict(missing) }}",
    "{{ dict(nested.nosuch, z=1) }}",
    "{{ namespace(missing).a is defined }}",
    "{{ 'a\\nb'.splitlines('x') }}",
    "{{ 'a\\nb'.splitlines(none) }}",
    "{{ 'a\\nb'.splitlines(2) }}",
    "{{ words|sort(reverse='x') }}",
    "{{ words|sort(reverse=none) }}",
    "{{ words|sort(reverse=1) }}",
    "{{ nested|dictsort(reverse='x') }}",
    "{% filter length %}abc{% endfilter %}",
    "{% macro m() %}{% filter list %}abc{% endfilter %}{% endmacro %}{{ m() }}",
    "{% filter e %}<{% endfilter %}",
    "{% set a | length %}abc{% endset %}{{ a }}",
    "{% autoescape false %}{{ '<' }}{% endautoescape %}",
    "{% block a %}x{% endblock %}",
    "{% do 1 %}",
    "{{ lipsum() is string }}",
    "{{ strftime_now is defined }}",
    "{% if strftime_now is defined %}{{ strftime_now('%d %b %Y %H:%M') }}{% endif %}",
    "{{ strftime_now('%A %-d %B %y, day %j, %I %p %%') }}",
    "{% for m in messages %}{{ (messages[loop.index0+1]).role if not loop.last else 'end' }} {% endfor %}",
    "{{ '=' * 5 }}",
]


def main():
    cases = [{"template": "{{ " + e + " }}"} for e in EXPRESSIONS] + [{"template": s} for s in STATEMENTS]
    for case in cases:
        text = rendered(case["template"], copy.deepcopy(CHAT))
        case.update({"refused": True} if text is None else {"text": text})
    print("[")
    print(json.dumps({"chat": CHAT}), end="")
    for case in cases:
        print(",\n" + json.dumps(case), end="")
    print("\n]")


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        sys.exit(main())
