from __future__ import annotations

import pytest
from jinja2 import TemplateError

from textcraft_gym.agents.models.chat_template import (
    MAX_LENGTH,
    MAX_TEXT,
    STEPS,
    STEPS_OF_A_MESSAGE,
    render,
)

CHATML = """{% for message in messages %}
{% if loop.first and message.role != 'system' %}
<|im_start|>system
Be helpful.<|im_end|>
{% endif %}
<|im_start|>{{ message.role }}
{{ message['content'] | trim }}<|im_end|>
{% endfor %}
{% if add_generation_prompt %}
<|im_start|>assistant
{% endif %}
"""
DOUBLING = (
    "{% set ns = namespace(s='x') %}{% for i in range(40) %}{% set ns.s = JOIN %}{% endfor %}"
)
USER = {"role": "user", "content": "Play. "}


def test_render__writes_a_dialogue():
    end = "<|im_end|>\n"
    system, user = f"<|im_start|>system\nBe helpful.{end}", f"<|im_start|>user\nPlay.{end}"
    assert render(CHATML, [USER, USER]) == f"{system}{user}{user}<|im_start|>assistant\n"


def test_render__takes_the_filters_and_sums_of_honest_templates():
    template = (
        "{% set system = messages[0]['content'] | trim %}{{ 'a' + system + '\\n' }}{{ 7 % 2 }}{{ 2 + 3 }}"
        "{{ ['b', 'c'] | join(', ') }}{{ system.replace('P', 'p') }}{{ {'k': [1]} | tojson(indent=2) }}"
        "{{ (messages + messages) | length }}{{ system.split('a')[-1] ~ '!' }}"
        "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}"
    )
    assert render(template, [USER]) == 'aPlay.\n15b, cplay.{\n  "k": [\n    1\n  ]\n}2y.!1'


def test_render__takes_macros_ranges_and_recursive_loops():
    macro = "{% macro twice(text) %}{{ text * 2 }}{% endmacro %}{{ twice('a') }}"
    loops = "{% for i in range(3) %}{{ i }}{% endfor %}{% for x in [[1], 2] recursive %}{{ loop.index }}{% endfor %}"
    assert render(macro + loops, [USER]) == "aa01212"


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(60000) %}{% for b in range(60000) %}{% endfor %}{% endfor %}",
        "{% for a in range(99) %}{% for b in range(99) %}{% for c in range(99) %}{% endfor %}{% endfor %}{% endfor %}",
        "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{% for a in [[]] * 2 recursive %}{% for i in range(9) %}{{ loop([0, 0]) }}{% endfor %}{% endfor %}",
        "{% for a in range(10 * 4) if range(60000) | list %}{% for b in range(60000) %}{% endfor %}{% endfor %}",
    ],
)
def test_render__ends(template):
    most = STEPS + STEPS_OF_A_MESSAGE
    with pytest.raises((TemplateError, RecursionError, TypeError)) as raised:
        render(template, [USER])
    if raised.type is TemplateError:
        assert f"it takes more than {most} steps" in str(raised.value)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ range(10000000) | list | length }}", f"it counts to more than {MAX_LENGTH}"),
        ("{{ ('x' * 60000) * 60000 }}", f"it multiplies to more than {MAX_LENGTH}"),
        ("{{ 9 ** 9 ** 9 }}", "it computes powers"),
        (DOUBLING.replace("JOIN", "ns.s ~ ns.s"), f"it joins more than {MAX_TEXT}"),
        (DOUBLING.replace("JOIN", "ns.s + ns.s"), f"it joins more than {MAX_TEXT}"),
        (
            DOUBLING.replace("'x'", "[1]").replace("JOIN", "ns.s + ns.s"),
            f"it joins more than {MAX_TEXT}",
        ),
        (
            DOUBLING.replace("JOIN", "ns.s | replace('x', 'xx' * 30)"),
            f"it might replace to more than {MAX_TEXT}",
        ),
        (
            DOUBLING.replace("JOIN", "ns.s.join(['x', ns.s, ns.s])"),
            f"it might join to more than {MAX_TEXT}",
        ),
        ("{{ 'x' | center(100000000) }}", f"it gives center a number above {MAX_LENGTH}"),
        ("{{ 'x'.ljust(100000000) }}", f"it gives ljust a number above {MAX_LENGTH}"),
        ("{{ {} | tojson(indent=100000000) }}", f"it gives tojson a number above {MAX_LENGTH}"),
        ("{{ '{:>100000000}'.format(1) }}", "it formats by a text"),
        ("{{ '%100000000d' % 1 }}", "it formats by a text"),
        ("{{ '%100000000d' | format(1) }}", "No filter named 'format'"),
        ("{{ lipsum(1000000) }}", "'lipsum' is undefined"),
        ("{{ raise_exception('no system') }}", "no system"),
    ],
)
def test_render__refuses_what_takes_long(template, message):
    with pytest.raises(TemplateError, match=message):
        render(template, [USER])


def test_render__has_more_steps_for_more_messages():
    template = "{% for message in messages %}{% for i in range(900) %}{% endfor %}{% endfor %}"
    assert render(template, [USER] * 200) == ""
