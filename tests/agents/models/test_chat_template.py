from __future__ import annotations

import pytest
from jinja2 import TemplateError

from textcraft_gym.agents.models.chat_template import MAX_LENGTH, STEPS, STEPS_OF_A_MESSAGE, render

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
USER = {"role": "user", "content": "Play. "}


def test_render__writes_a_dialogue():
    end = "<|im_end|>\n"
    system, user = f"<|im_start|>system\nBe helpful.{end}", f"<|im_start|>user\nPlay.{end}"
    assert render(CHATML, [USER, USER]) == f"{system}{user}{user}<|im_start|>assistant\n"


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
