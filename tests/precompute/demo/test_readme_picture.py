import xml.etree.ElementTree as ET

from precompute.demo.readme_picture import draw_readme_picture


def test_the_readmes_picture_is_small_and_self_contained():
    text = draw_readme_picture()
    assert len(text) < 60_000
    root = ET.fromstring(text)
    assert len(root.findall("{http://www.w3.org/2000/svg}svg")) == 3
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
